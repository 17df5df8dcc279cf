/** The cases from public bug reports: each that touches the engine is tried here, under its heading, or named where it is. */
import { statSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { inspect } from "node:util";
import Database from "better-sqlite3";
import { afterAll, describe, expect, it } from "vitest";
import type { FoldInput } from "../../../src/domain/input.ts";
import type { Mirror } from "../../../src/mirror/create-mirror.ts";
import type { HeaderBag } from "../../../src/receiver/request.ts";
import { sqlite } from "../../../src/store/sqlite/store.ts";
import {
  at,
  delivery,
  event,
  eventBody,
  fixtureDelivery,
  foldOf,
  kindsOf,
  noonMs,
  otherSecret,
  permutations,
  secret,
  sha256,
  signed,
  skewMs,
  snapshot,
} from "../../support/delivery.ts";
import {
  openMirror,
  recordingLogger,
  settle,
  storeKinds,
  temporaryFile,
  testClock,
} from "../../support/mirror.ts";
import { startChild } from "../../support/process.ts";

const refundSucceeded = (id: string) =>
  delivery("refund.full-succeeded", { id, seconds: 0, transactionId: "T" }, { webhookId: `wh-${id}` });

const verdictOf = (id: string, seconds: number, status: string, previousStatus: string) =>
  event("contract.updated", { id, seconds, status, previousStatus });

const createdOf = (id: string, contractId: string) =>
  delivery("contract.created", { id, seconds: 0, contractId }, { webhookId: id });

const padded = (bytes: number) => {
  const bare = eventBody("contract.created", { pad: "" });
  return bare.replace('"pad":""', `"pad":"${"x".repeat(bytes - bare.length)}"`);
};

const headerCase = (name: string) => name.replaceAll(/(^|-)./g, (part) => part.toUpperCase());

const partialRefund = (id: string, amount: number) =>
  event("refund.partial-succeeded", { id, seconds: 0, transactionId: id, amount });

const sumOf = (...inputs: FoldInput[]) =>
  [...foldOf(...inputs).refunds.values()].reduce((total, { amountMinor }) => total + (amountMinor ?? 0), 0);

const pascal = (key: string) => key.charAt(0).toUpperCase() + key.slice(1);

const alternating = (key: string) =>
  Array.from(key, (letter) => letter)
    .map((letter, index) => (index % 2 === 0 ? letter.toUpperCase() : letter))
    .join("");

const refundEvent = (id: string, seconds: number, transactionId: string, type = "refund.full-initiated") =>
  event(type, { id, seconds, transactionId, amount: 25 });

/** Where each case is tried: `here`, in another file of this issue, or with the issue that brings what it needs. */
const cases = {
  "Two simultaneous copies of one delivery both take effect": "here",
  "Id is recorded as seen before the handler succeeds": "later: handlers",
  "Refund that arrives before its payment is thrown away": "here",
  "Late older event overwrites newer status": "here",
  'Process killed after claiming: delivery stuck as "processing"':
    "test/simulation (nothing is claimed before its commit); later: leases of jobs",
  "State checked and changed in separate steps": "here",
  "Storage failure swallowed and answered 200": "here",
  "Missing signature or timestamp header is only warned about": "here",
  "Sender retries keep the first timestamp": "here",
  "NUMERIC and BIGINT come back as strings": "here (SQLite); later: Postgres",
  "Money as binary floating point": "here",
  "Unknown event type answered with an error": "here",
  "New status value or extra field breaks parsing": "here",
  "App-wide JSON parser runs before the receiver (Express)": "here (receive itself); test/hosts",
  "Rejected promise in an Express 4 handler": "test/hosts",
  "SQLITE_BUSY despite a busy time-out": "here",
  "Field casing differs between webhook and API": "here",
  "Event for a contract the mirror has never seen": "here; later: reconcile",
  "Refunds matched by amount or parent instead of id": "here",
  "Webhook beats the API answer (create contract)": "here (as inputs of the fold); later: client",
  "One permanently failing event blocks the rest": "here (a delivery that can't be stored); later: handlers",
  "Handler slower than the sender's time-out": "later: handlers",
  "1.0 becomes 1 when JSON is parsed and rewritten": "here",
  "Escaped characters change form on re-serialisation": "here",
  "Wrong-length digest makes the constant-time compare throw": "here",
  "Webhook-id missing or hostile": "here",
  "Close while a delivery is being handled": "here; later: handlers",
  "Several instances migrate at start": "test/contract/migrations.test.ts; later: Postgres",
  "Timestamps and plain dates shift with the process zone": "here; later: Postgres",
  "Whole payload or signature written to logs": "here",
  "Refund reported done, then fails": "here (the service promises that succeeded is final)",
  "Expected digest or secret shown in error or log": "here",
  "Async callback in a synchronous SQLite transaction":
    "here (the store's own transaction); later: inTransaction",
  "Same GUID in different letter case": "here",
  "Header looked up by exact case": "here",
  "Booleans, dates, undefined cannot be bound": "here",
  "Duplicate inside a Postgres transaction poisons the caller's transaction": "later: Postgres",
  '"Was it inserted?" decided from the last row id': "here",
  "Dedupe memory too short, unbounded, or only in RAM": "here; later: prune; test/bench",
  "Pending refund shown as failed": "here; later: client",
  "Compressed body: which bytes were signed?": "here",
  "Seconds versus milliseconds": "here",
  "Integers above 2^53 change silently": "here",
  "Key-casing plugin rewrites stored JSON":
    "here (no plugin of a host's reaches our statements); later: Postgres with a host's Kysely",
  "Concurrent events take row locks in different order": "later: Postgres",
  "Persistent 401 causes endless token fetches": "later: client",
  "Sandbox signs one serialisation and sends another": "test/sandbox",
  "Only one secret can be configured": "here",
  "Secret used as text when it is base64 (or the reverse)": "here",
  "Default body limit differs by framework": "here (receive itself); test/hosts",
  "Null and missing treated alike": "here",
  "Every parallel call fetches its own token": "later: client",
  "Non-JSON answers": "later: client",
  "Types resolve to the wrong module format": "later: package checks",
  "Conflict clause names one of two unique keys": "here",
  "Child event after the parent was closed or deleted": "here",
  "Repeated header or array value": "here; test/hosts",
  "Clock ahead, and tolerance applied with the wrong sign": "here",
  "Stored delivery re-verified after the window": "here",
  "Webhook POST answered with a redirect": "here (receive itself); test/hosts",
  "Registering twice, or next to an own JSON parser": "test/hosts",
  "Raw-body helper silently not active": "here (receive itself); test/hosts",
  "JavaScript array sent as a Postgres array": "here (SQLite); later: Postgres",
  "Retry-After as a date or nonsense": "later: client",
  "Secret only accepted as a command-line argument": "later: command line",
  "Host has another Kysely version": "later: Postgres, package checks",
  "Derived flag not cleared when a dispute verdict flips": "here",
  "Same JSON key twice": "here",
  "Value altered before it enters the signed text": "here",
  "Paged back-fill skips or loops": "test/unit/queries/queries.test.ts (our own lists); later: reconcile",
  "Body is decoded to text before hashing": "here",
  "Gateway hands over the body base64-encoded": "here",
  "Synchronous HMAC on runtimes with only Web Crypto": "later: adapters (Node only, and said so)",
  "WAL file grows without bound": "here",
  "BigInt reaches a JSON logger": "here",
  "Empty body with a JSON content type": "here; test/hosts",
  "localhost resolves to ::1": "test/sandbox",
} as const;

type Heading = keyof typeof cases;
const tried = new Set<Heading>();

function testCase(heading: Heading, right: string, run: () => Promise<void> | void): void {
  tried.add(heading);
  it(`${heading}: ${right}`, run);
}

afterAll(() => {
  const promised = Object.entries(cases).filter(([, where]) => where.startsWith("here"));
  expect(promised.map(([heading]) => heading).filter((heading) => !tried.has(heading as Heading))).toEqual(
    [],
  );
});

const statusesOf = async (mirror: Mirror, ...requests: Parameters<Mirror["receive"]>[0][]) => {
  const statuses: string[] = [];
  for (const request of requests) {
    const { status, outcome } = await mirror.receive(request);
    statuses.push(`${status} ${outcome}`);
  }
  return statuses;
};
const allDeliveries = async (mirror: Mirror) => (await mirror.deliveries.list({ limit: 500 })).items;
const proof = () => delivery("webhook.test", { id: "proof", contractId: undefined });
const v1 = fixtureDelivery("V1");
const tally = (values: readonly string[]) =>
  Object.fromEntries(
    [...new Set(values)].sort().map((value) => [value, values.filter((each) => each === value).length]),
  );

describe("duplicates", () => {
  testCase(
    "Two simultaneous copies of one delivery both take effect",
    "in one process and from two on one file one of 20 is applied, the rest are duplicates",
    async () => {
      const file = temporaryFile();
      const [one, two] = [
        await openMirror({ store: sqlite({ path: file, busyTimeoutMs: 10_000 }) }),
        await openMirror({ store: sqlite({ path: file, busyTimeoutMs: 10_000 }) }),
      ];
      const inside = await Promise.all(
        Array.from({ length: 20 }, (_, index) => (index % 2 === 0 ? one : two).receive(v1)),
      );
      expect(tally(inside.map(({ status, outcome }) => `${status} ${outcome}`))).toEqual({
        "200 applied": 1,
        "200 duplicate": 19,
      });
      const children = [
        startChild("deliver", file, "a", "20", "same"),
        startChild("deliver", file, "b", "20", "same"),
      ];
      for (const child of children) expect(await child.line()).toBe("ready");
      for (const child of children) child.process.stdin.write("go\n");
      const answers = (await Promise.all(children.map((child) => child.line()))).flatMap(
        (line) => JSON.parse(line) as string[],
      );
      expect(tally(answers)).toEqual({ "200 applied": 1, "200 duplicate": 39 });
      for (const child of children) expect(await child.ended, child.errors()).toBe(0);
      expect((await one.deliveries.get("same"))?.attempts).toBe(40);
      expect(await one.contracts.history("CNT-same")).toHaveLength(1);
    },
  );

  testCase(
    '"Was it inserted?" decided from the last row id',
    "D1, D2, D1: the third is a duplicate and counts on D1",
    async () => {
      const mirror = await openMirror({ store: sqlite(":memory:") });
      const [first, second] = [
        delivery("contract.created", { id: "1" }, { webhookId: "D1" }),
        delivery("contract.created", { id: "2" }, { webhookId: "D2" }),
      ];
      expect(await statusesOf(mirror, first, second, first)).toEqual([
        "200 applied",
        "200 applied",
        "200 duplicate",
      ]);
      expect((await mirror.deliveries.get("D1"))?.attempts).toBe(2);
      expect((await mirror.deliveries.get("D2"))?.attempts).toBe(1);
    },
  );

  testCase(
    "Dedupe memory too short, unbounded, or only in RAM",
    "a restart and any length of time later it is still a duplicate",
    async () => {
      const file = temporaryFile();
      const before = await openMirror({ store: sqlite(file) });
      expect(await statusesOf(before, v1)).toEqual(["200 applied"]);
      await before.close();
      const after = await openMirror({
        store: sqlite(file),
        clock: testClock(noonMs + 5 * 365 * 86_400_000),
      });
      expect(await statusesOf(after, v1)).toEqual(["200 duplicate"]);
    },
  );

  testCase(
    "Conflict clause names one of two unique keys",
    "two webhook ids for one transaction and type are no 500, and one refund",
    async () => {
      const mirror = await openMirror({ store: sqlite(":memory:") });
      const answers = await Promise.all([
        mirror.receive(refundSucceeded("1")),
        mirror.receive(refundSucceeded("2")),
      ]);
      expect(answers.map(({ status }) => status)).toEqual([200, 200]);
      expect((await mirror.refunds.list()).items).toHaveLength(1);
      expect((await mirror.contracts.history("CNT-1")).filter(({ moved }) => moved)).toHaveLength(1);
    },
  );
});

describe("order", () => {
  testCase(
    "Refund that arrives before its payment is thrown away",
    "all 24 orders end the same, and each is answered 200",
    async () => {
      const events = [
        eventBody("payment.completed", {
          id: "1",
          seconds: 0,
          status: "Escrow",
          previousStatus: "Approved",
          paymentId: "P",
        }),
        eventBody("milestone.payment.completed", {
          id: "2",
          seconds: 100,
          milestoneId: 5,
          status: "Escrow",
          paymentId: "P",
        }),
        eventBody("milestone.refund.full-initiated", {
          id: "3",
          seconds: 200,
          milestoneId: 5,
          transactionId: "T-1",
          previousStatus: "Escrow",
        }),
        eventBody("milestone.refund.full-succeeded", {
          id: "4",
          seconds: 300,
          milestoneId: 5,
          transactionId: "T-1",
          previousStatus: "RefundInProgress",
        }),
      ];
      const ends = new Set<string>();
      for (const order of permutations(events)) {
        const mirror = await openMirror();
        expect(await statusesOf(mirror, ...order.map((body) => signed(body)))).toEqual(
          Array(4).fill("200 applied"),
        );
        const { changedAt: _, ...contract } = (await mirror.contracts.get("CNT-1")) ?? { changedAt: "" };
        ends.add(JSON.stringify([contract, await mirror.contracts.history("CNT-1")]));
        expect(contract).toMatchObject({
          status: "Cancelled",
          milestones: [{ status: "Refunded" }],
          refunds: [{ refundId: "T-1", state: "succeeded" }],
        });
      }
      expect(ends.size).toBe(1);
    },
  );

  testCase(
    "Late older event overwrites newer status",
    "a released milestone stays released, whether the late one has a time or none",
    () => {
      const released = event("milestone.released", {
        id: "A",
        seconds: 300,
        milestoneId: 1,
        previousStatus: "Escrow",
      });
      for (const time of [{ seconds: 60 }, {}]) {
        const funded = event("milestone.payment.completed", {
          id: "B",
          milestoneId: 1,
          paymentId: "P",
          ...time,
        });
        for (const order of permutations([released, funded])) {
          const state = foldOf(...order);
          expect(state.milestones.get("1")).toMatchObject({ status: "Released", statusSince: at(300) });
          expect(kindsOf(state)).toEqual("seconds" in time ? [] : ["no-time"]);
        }
      }
    },
  );

  testCase(
    "State checked and changed in separate steps",
    "ten concurrent events from two connections end as their fold does",
    async () => {
      const file = temporaryFile();
      const mirrors = [
        await openMirror({ store: sqlite({ path: file, busyTimeoutMs: 10_000 }) }),
        await openMirror({ store: sqlite({ path: file, busyTimeoutMs: 10_000 }) }),
      ];
      for (let round = 0; round < 10; round++) {
        const contractId = `CNT-${round}`;
        const shapes = [
          ["milestone.payment.completed", { seconds: 0, paymentId: "P" }],
          ...[1, 2, 3].map(
            (index) =>
              [
                "milestone.released",
                { seconds: 100, id: `${round}-r${index}`, previousStatus: "Escrow" },
              ] as const,
          ),
          ["milestone.disputed", { seconds: 200 }],
          ...[1, 2, 3, 4, 5].map(
            (index) => ["milestone.completed", { seconds: 300 + index, id: `${round}-c${index}` }] as const,
          ),
        ] as const;
        const answers = await Promise.all(
          shapes.map(async ([type, shape], index) =>
            mirrors[index % 2]?.receive(delivery(type, { contractId, milestoneId: 1, ...shape })),
          ),
        );
        expect(answers.map((answer) => answer?.status)).toEqual(Array(10).fill(200));
        const truth = foldOf(
          ...shapes.map(([type, shape]) => event(type, { contractId, milestoneId: 1, ...shape })),
        );
        const history = (await mirrors[0]?.contracts.history(contractId)) ?? [];
        expect(history.map(({ to, moved, anomaly }) => [to, moved, anomaly])).toEqual(
          truth.transitions.map(({ to, moved, anomaly }) => [to, moved, anomaly]),
        );
        expect(history.filter(({ to, moved }) => to === "Released" && moved)).toHaveLength(1);
      }
    },
  );

  testCase(
    "Event for a contract the mirror has never seen",
    "it is 200, and attached when the contract comes",
    async () => {
      const mirror = await openMirror();
      const early = delivery("milestone.payment.completed", {
        id: "m",
        seconds: 10,
        contractId: "C-404",
        milestoneId: 1,
        paymentId: "P",
      });
      expect(await statusesOf(mirror, early)).toEqual(["200 applied"]);
      expect(await mirror.contracts.get("C-404")).toMatchObject({
        status: "unknown",
        milestones: [{ status: "Escrow" }],
      });
      await mirror.receive(delivery("contract.created", { id: "c", seconds: 0, contractId: "C-404" }));
      expect(await mirror.contracts.get("C-404")).toMatchObject({
        status: "pending",
        milestones: [{ status: "Escrow" }],
      });
    },
  );

  testCase(
    "Child event after the parent was closed or deleted",
    "each is 200, the milestone ends, the refund is attached",
    async () => {
      const mirror = await openMirror();
      expect(
        await statusesOf(
          mirror,
          delivery("contract.cancelled", { id: "1", seconds: 0 }),
          delivery("milestone.completed", { id: "2", seconds: 10, milestoneId: 1 }),
          delivery("refund.full-initiated", { id: "3", seconds: 600, transactionId: "T" }),
        ),
      ).toEqual(Array(3).fill("200 applied"));
      expect(await mirror.contracts.get("CNT-1")).toMatchObject({
        status: "Cancelled",
        milestones: [{ status: "Completed" }],
        refunds: [{ refundId: "T" }],
      });
    },
  );

  testCase(
    "Derived flag not cleared when a dispute verdict flips",
    "whichever verdict comes last, nothing is left of the other",
    () => {
      const opened = event("contract.disputed", {
        id: "1",
        seconds: 0,
        disputeId: "D",
        previousStatus: "Escrow",
      });
      const won = foldOf(
        opened,
        verdictOf("2", 100, "RefundInProgress", "Dispute"),
        verdictOf("3", 200, "Released", "RefundInProgress"),
      );
      const plain = foldOf(opened, verdictOf("3", 200, "Released", "Dispute"));
      const { previousStatus: _, transitionCount: __, anomalyCount: ___, ...contract } = won.contract;
      expect(plain.contract).toMatchObject(contract);
      expect(won.disputes).toEqual(plain.disputes);
    },
  );

  testCase(
    "Webhook beats the API answer (create contract)",
    "one contract, funded, in whatever order the answer is folded in",
    () => {
      const answer = snapshot({ seconds: 0, status: "pending", fields: { title: "T", amountMinor: 10000 } });
      const inputs: FoldInput[] = [
        answer,
        event("contract.created", { seconds: 0.5, amount: 100 }),
        event("payment.completed", { seconds: 0.9, paymentId: "P" }),
      ];
      for (const order of permutations(inputs))
        expect(foldOf(...order).contract).toMatchObject({ status: "Escrow", title: "T", amountMinor: 10000 });
    },
  );
});

describe("answers", () => {
  testCase(
    "Storage failure swallowed and answered 200",
    "503 with Retry-After while the file is locked, applied once it is free",
    async () => {
      const file = temporaryFile();
      const mirror = await openMirror({ store: sqlite(file, { busyTimeoutMs: 20 }) });
      const locker = new Database(file);
      locker.exec("begin exclusive");
      const answer = await mirror.receive(v1);
      expect(answer).toMatchObject({ status: 503, outcome: "failed", reason: "store-unavailable" });
      expect(Number(answer.headers["retry-after"])).toBeGreaterThan(0);
      locker.exec("rollback");
      locker.close();
      expect(await allDeliveries(mirror)).toEqual([]);
      expect(await statusesOf(mirror, v1, v1)).toEqual(["200 applied", "200 duplicate"]);
    },
  );

  testCase(
    "SQLITE_BUSY despite a busy time-out",
    "two processes with 50 deliveries each and a reader lose none, and no answer is 500",
    async () => {
      const file = temporaryFile();
      const children = [startChild("deliver", file, "a", "50"), startChild("deliver", file, "b", "50")];
      for (const child of children) expect(await child.line()).toBe("ready");
      const mirror = await openMirror({ store: sqlite(file) });
      for (const child of children) child.process.stdin.write("go\n");
      const lines = Promise.all(children.map((child) => child.line()));
      const reading = { finished: false };
      const listing = (async () => {
        while (!reading.finished) {
          await mirror.contracts.list({ limit: 500 });
          await settle(1);
        }
      })();
      const answers = (await lines).flatMap((line) => JSON.parse(line) as string[]);
      reading.finished = true;
      await listing;
      expect(tally(answers)).toEqual({ "200 applied": 100 });
      for (const child of children) expect(await child.ended, child.errors()).toBe(0);
      expect((await mirror.contracts.count()).total).toBe(100);
    },
  );

  testCase(
    "One permanently failing event blocks the rest",
    "a delivery that can't be stored is 503 for itself alone, and applied once it can",
    async () => {
      const file = temporaryFile();
      const mirror = await openMirror({ store: sqlite(file) });
      const beside = new Database(file);
      beside.exec(
        "create trigger poison before insert on escrow_deliveries when new.id = 'E1' begin select raise(abort, 'poison'); end",
      );
      const poisoned = createdOf("E1", "A");
      const answers = await Promise.all(
        [poisoned, createdOf("E2", "A"), createdOf("E3", "B")].map((each) => mirror.receive(each)),
      );
      expect(answers.map(({ status }) => status)).toEqual([503, 200, 200]);
      beside.exec("drop trigger poison");
      beside.close();
      expect(await statusesOf(mirror, poisoned)).toEqual(["200 applied"]);
    },
  );

  testCase(
    "Unknown event type answered with an error",
    "200, stored, listed as an anomaly, the mirror untouched",
    async () => {
      const mirror = await openMirror();
      await mirror.receive(delivery("contract.created", { id: "1", seconds: 0 }));
      expect(await statusesOf(mirror, delivery("contract.teleported", { id: "2", seconds: 9 }))).toEqual([
        "200 applied",
      ]);
      expect((await mirror.anomalies.list()).items).toMatchObject([
        { kind: "unknown-event", detail: "contract.teleported" },
      ]);
      expect(await mirror.contracts.get("CNT-1")).toMatchObject({ status: "pending", statusSince: at(0) });
    },
  );

  testCase(
    "New status value or extra field breaks parsing",
    "the raw value is shown, the rest is kept, nothing breaks",
    async () => {
      const mirror = await openMirror();
      const body = eventBody("contract.updated", {
        seconds: 0,
        status: "under_review",
        extra: "x",
        nested: { a: [1, { b: null }] },
      });
      expect(await statusesOf(mirror, signed(body))).toEqual(["200 applied"]);
      expect(await mirror.contracts.get("CNT-1")).toMatchObject({ status: "under_review" });
      const read = snapshot({ seconds: 100, status: "on_hold" });
      expect(foldOf(event("contract.created", { seconds: 0 }), read).contract.status).toBe("on_hold");
    },
  );

  testCase(
    "App-wide JSON parser runs before the receiver (Express)",
    "a parsed object is 500 with the fix in the log, never 401 and never re-serialised",
    async () => {
      const logger = recordingLogger();
      const mirror = await openMirror({ logger });
      const body = JSON.parse(Buffer.from(v1.body).toString()) as unknown as Uint8Array;
      expect(await statusesOf(mirror, { ...v1, body })).toEqual(["500 failed"]);
      expect(logger.lines).toMatchObject([
        { level: "error", message: expect.stringMatching(/before the app's JSON parser|raw body/) as string },
      ]);
    },
  );

  testCase(
    "Raw-body helper silently not active",
    "an undefined body is 500 and never hashed as such",
    async () => {
      const empty = fixtureDelivery("V11");
      expect(
        await statusesOf(await openMirror(), { method: "POST", headers: empty.headers, body: undefined }),
      ).toEqual(["500 failed"]);
    },
  );

  testCase(
    "Webhook POST answered with a redirect",
    "GET and HEAD are 405 with Allow: POST, nothing is 3xx",
    async () => {
      const mirror = await openMirror();
      for (const method of ["GET", "HEAD"])
        expect(await mirror.receive({ ...v1, method })).toMatchObject({
          status: 405,
          headers: { allow: "POST" },
        });
    },
  );

  testCase(
    "Close while a delivery is being handled",
    "the running one commits and is 200, a new one is 503, the store closes last",
    async () => {
      const mirror = await openMirror({ store: sqlite(":memory:") });
      const running = mirror.receive(v1);
      const closing = mirror.close();
      expect(await mirror.receive(fixtureDelivery("V2"))).toMatchObject({ status: 503, reason: "closed" });
      expect((await running).status).toBe(200);
      await closing;
    },
  );

  testCase("Default body limit differs by framework", "1 MiB to the byte; above it 413", async () => {
    const mirror = await openMirror();
    for (const bytes of [99_000, 101_000, 900_000, 1_048_576])
      expect(await statusesOf(mirror, signed(padded(bytes)))).toEqual(["200 applied"]);
    for (const bytes of [1_048_577, 1_100_000])
      expect(await statusesOf(mirror, signed(padded(bytes)))).toEqual(["413 rejected"]);
  });

  testCase("Empty body with a JSON content type", "unsigned is 401, signed is quarantined", async () => {
    const mirror = await openMirror();
    const empty = fixtureDelivery("V11");
    expect(
      await statusesOf(
        mirror,
        { method: "POST", headers: { "content-type": "application/json" }, body: "" },
        empty,
      ),
    ).toEqual(["401 rejected", "200 quarantined"]);
    expect((await mirror.quarantine.list()).items).toMatchObject([
      { webhookId: "wh-V11", reason: "not-json" },
    ]);
  });
});

describe("signatures", () => {
  testCase(
    "Missing signature or timestamp header is only warned about",
    "401, and no row is written",
    async () => {
      const mirror = await openMirror();
      const { "x-service-signature": _, ...rest } = v1.headers;
      for (const headers of [
        rest,
        { ...rest, "x-service-signature": "" },
        { ...rest, "x-service-signature": "  " },
      ])
        expect(await statusesOf(mirror, { ...v1, headers })).toEqual(["401 rejected"]);
      expect(await allDeliveries(mirror)).toEqual([]);
      const scheme = { content: "timestamp.body" } as const;
      const stamped = await openMirror({ webhook: { signature: scheme } });
      const { "X-Service-Timestamp": __, ...without } = signed(eventBody("contract.created"), { scheme })
        .headers as Record<string, string>;
      expect(
        await statusesOf(stamped, { method: "POST", headers: without, body: eventBody("contract.created") }),
      ).toEqual(["401 rejected"]);
      expect(await allDeliveries(stamped)).toEqual([]);
    },
  );

  testCase(
    "Wrong-length digest makes the constant-time compare throw",
    "401 each, and a valid one right after is 200",
    async () => {
      const mirror = await openMirror();
      const good = v1.headers["x-service-signature"] ?? "";
      for (const value of [
        "",
        "sha256=abcd",
        good.slice(0, -1),
        `${good}0`,
        `${good} `,
        "a".repeat(10_000),
        "é".repeat(64),
      ])
        expect(
          await statusesOf(mirror, { ...v1, headers: { ...v1.headers, "x-service-signature": value } }),
        ).toEqual(["401 rejected"]);
      expect(await statusesOf(mirror, v1)).toEqual(["200 applied"]);
    },
  );

  testCase(
    "1.0 becomes 1 when JSON is parsed and rewritten",
    "200, and the raw payload is stored byte for byte",
    async () => {
      const mirror = await openMirror();
      const v2 = fixtureDelivery("V2");
      expect(await statusesOf(mirror, v2)).toEqual(["200 applied"]);
      const stored = await (await mirror.deliveries.get("wh-V2"))?.body();
      expect(sha256(stored ?? "")).toBe(sha256(v2.body));
      expect((await mirror.payments.list()).items).toMatchObject([{ amountMinor: 10000 }]);
    },
  );

  testCase(
    "Escaped characters change form on re-serialisation",
    "200, the text is right, the raw bytes are kept",
    async () => {
      const mirror = await openMirror({ store: sqlite(":memory:") });
      for (const [name, text] of [
        ["V3", "€5 / \u2028 café"],
        ["V4", "دفعة 🎉 日本"],
      ] as const) {
        const sent = fixtureDelivery(name);
        expect(await statusesOf(mirror, sent)).toEqual(["200 applied"]);
        const contract = await mirror.contracts.get(`CNT-${name}`);
        expect(contract?.metadata.metadata1).toBe(text);
        expect(Buffer.from((await (await mirror.deliveries.get(`wh-${name}`))?.body()) ?? "")).toEqual(
          Buffer.from(sent.body),
        );
      }
    },
  );

  testCase(
    "Body is decoded to text before hashing",
    "a byte that is not UTF-8 verifies and is quarantined; another in its place is refused",
    async () => {
      const mirror = await openMirror();
      const v5 = fixtureDelivery("V5");
      expect(await statusesOf(mirror, v5)).toEqual(["200 quarantined"]);
      expect((await mirror.quarantine.list()).items).toMatchObject([{ reason: "not-utf8" }]);
      const swapped = Buffer.from(v5.body).map((byte) => (byte === 0xff ? 0xfe : byte));
      expect(await statusesOf(mirror, { ...v5, body: swapped })).toEqual(["401 rejected"]);
    },
  );

  testCase("Same JSON key twice", "quarantined: no two readers see two truths", async () => {
    const mirror = await openMirror();
    expect(await statusesOf(mirror, fixtureDelivery("V7"))).toEqual(["200 quarantined"]);
    expect((await mirror.quarantine.list()).items).toMatchObject([{ reason: "ambiguous-field" }]);
    expect((await mirror.refunds.list()).items).toEqual([]);
  });

  testCase(
    "Value altered before it enters the signed text",
    "the id is hashed exactly as received",
    async () => {
      const scheme = { content: "id.timestamp.body" } as const;
      const mirror = await openMirror({ webhook: { signature: scheme } });
      for (const webhookId of ["AbC-1", " AbC-2 "])
        expect(
          await statusesOf(
            mirror,
            delivery("contract.created", { id: webhookId, seconds: 0 }, { scheme, webhookId }),
          ),
        ).toEqual(["200 applied"]);
    },
  );

  testCase(
    "Expected digest or secret shown in error or log",
    "absent from the answer and from every level of the log",
    async () => {
      const logger = recordingLogger();
      const mirror = await openMirror({ logger });
      await mirror.receive(proof());
      const right = v1.headers["x-service-signature"]?.replace("sha256=", "") ?? "";
      const answer = await mirror.receive({
        ...v1,
        headers: { ...v1.headers, "x-service-signature": `sha256=${"0".repeat(64)}` },
      });
      expect(answer.status).toBe(401);
      const seen = [
        JSON.stringify(answer),
        inspect(answer, { depth: 9 }),
        JSON.stringify(logger.lines),
        inspect(logger.lines, { depth: 9 }),
      ].join();
      for (const text of [right, Buffer.from(right, "hex").toString("base64"), secret])
        expect(seen).not.toContain(text);
    },
  );

  testCase(
    "Whole payload or signature written to logs",
    "logs carry ids and types; what is not authentic is stored nowhere",
    async () => {
      const logger = recordingLogger();
      const mirror = await openMirror({ logger });
      const personal = {
        email: "sara@example.com",
        phone: "+966500000001",
        iban: "SA0380000000608010167519",
      };
      await mirror.receive(delivery("contract.created", { seconds: 0, ...personal }));
      await mirror.receive(
        delivery("contract.approved", { seconds: 0, ...personal }, { secret: otherSecret }),
      );
      expect(await allDeliveries(mirror)).toHaveLength(1);
      for (const text of Object.values(personal)) expect(JSON.stringify(logger.lines)).not.toContain(text);
    },
  );

  testCase(
    "Only one secret can be configured",
    "each of two is 200; a dropped one is refused; the log names the slot",
    async () => {
      const mirror = await openMirror({ webhook: { secrets: [otherSecret, secret] } });
      expect(await statusesOf(mirror, v1, delivery("contract.created", {}, { secret: otherSecret }))).toEqual(
        ["200 applied", "200 applied"],
      );
      expect(await mirror.deliveries.get("wh-V1")).toMatchObject({ secretId: "2" });
      const dropped = await openMirror({ webhook: { secrets: otherSecret } });
      await dropped.receive(delivery("contract.created", {}, { secret: otherSecret }));
      expect(await statusesOf(dropped, v1)).toEqual(["401 rejected"]);
    },
  );

  testCase(
    "Secret used as text when it is base64 (or the reverse)",
    "the encoding is explicit; what does not decode is refused at start; a last line break is cut off",
    async () => {
      const key = `whsec_${Buffer.alloc(24, 5).toString("base64")}`;
      for (const encoding of ["utf8", "base64"] as const) {
        const mirror = await openMirror({ webhook: { secrets: { secret: `${key}\n`, encoding } } });
        const other = encoding === "utf8" ? "base64" : "utf8";
        const signedAs = (form: "utf8" | "base64") =>
          delivery("contract.created", {}, { secret: { secret: key, encoding: form } });
        expect(await statusesOf(mirror, signedAs(encoding), signedAs(other))).toEqual([
          "200 applied",
          "401 rejected",
        ]);
      }
      await expect(
        openMirror({ webhook: { secrets: { secret: "whsec_xyz!", encoding: "base64" } } }),
      ).rejects.toMatchObject({ code: "invalid-configuration" });
    },
  );

  testCase(
    "Sender retries keep the first timestamp",
    "four hours old is taken in by default; older than the tolerance is told apart from forged",
    async () => {
      const scheme = { content: "timestamp.body" } as const;
      const mirror = await openMirror({ webhook: { signature: scheme } });
      const sent = (id: string, hours: number) =>
        signed(eventBody("contract.created", { id }), { scheme, timestamp: noonMs - hours * 3_600_000 });
      expect(await statusesOf(mirror, sent("1", 4), sent("2", 25))).toEqual([
        "200 applied",
        "200 quarantined",
      ]);
      expect((await mirror.quarantine.list()).items).toMatchObject([{ reason: "outside-tolerance" }]);
    },
  );

  testCase(
    "Clock ahead, and tolerance applied with the wrong sign",
    "±300 s are inside, a millisecond more is not, and a larger tolerance refuses nothing that a smaller took",
    async () => {
      const scheme = { content: "timestamp.body", timestampUnit: "ms" } as const;
      const outcomes = async (toleranceMs: number) => {
        const mirror = await openMirror({ webhook: { signature: scheme, toleranceMs } });
        const sent = [-300_001, -300_000, -60_000, 60_000, 299_000, 300_000, 300_001].map((offset) =>
          signed(eventBody("contract.created", { id: `${offset}` }), { scheme, timestamp: noonMs + offset }),
        );
        return (await statusesOf(mirror, ...sent)).map((status) => status === "200 applied");
      };
      expect(await outcomes(300_000)).toEqual([false, true, true, true, true, true, false]);
      expect(await outcomes(400_000)).toEqual(Array(7).fill(true));
    },
  );

  testCase(
    "Seconds versus milliseconds",
    "the unit is explicit: a value in another is 401, and no far future is ever fresh",
    async () => {
      const values = { s: `${noonMs / 1000}`, ms: `${noonMs}`, iso: new Date(noonMs).toISOString() };
      for (const timestampUnit of ["s", "ms", "iso"] as const) {
        const scheme = { content: "timestamp.body", timestampUnit } as const;
        const mirror = await openMirror({ webhook: { signature: scheme } });
        for (const [unit, timestamp] of Object.entries(values)) {
          const answer = await mirror.receive(
            signed(eventBody("contract.created", { id: unit }), { scheme, timestamp }),
          );
          expect([answer.status, answer.reason]).toEqual(
            unit === timestampUnit ? [200, undefined] : [401, "timestamp-unparseable"],
          );
        }
      }
    },
  );

  testCase(
    "Stored delivery re-verified after the window",
    "a quarantined delivery is released days later without its signature",
    async () => {
      const clock = testClock();
      const mirror = await openMirror({ clock });
      await mirror.receive(delivery("contract.created", { id: "1", seconds: 0 }, { webhookId: "wh-1" }));
      await mirror.receive(delivery("contract.approved", { id: "2", seconds: 9 }, { webhookId: "wh-1" }));
      clock.advance(2 * 86_400_000);
      const [aside] = (await mirror.quarantine.list()).items;
      await mirror.quarantine.release(aside?.id ?? "");
      expect(await mirror.contracts.get("CNT-1")).toMatchObject({ status: "Approved" });
    },
  );
});

describe("HTTP, as far as receive goes", () => {
  testCase(
    "Webhook-id missing or hostile",
    "a key is always found, never null; each content counts once; ids differ by case",
    async () => {
      const mirror = await openMirror({ store: sqlite(":memory:") });
      const { "x-service-webhook-id": _, ...rest } = v1.headers;
      expect(await statusesOf(mirror, { ...v1, headers: rest }, { ...v1, headers: rest })).toEqual([
        "200 applied",
        "200 duplicate",
      ]);
      for (const id of ["", "x".repeat(10_000), "a\u0000b", "a\r\nb"]) {
        const body = eventBody("contract.created", { note: id });
        const sent = {
          ...signed(body),
          headers: { ...(signed(body).headers as object), "X-Service-Webhook-Id": id },
        };
        expect(await statusesOf(mirror, sent, sent)).toEqual(["200 applied", "200 duplicate"]);
      }
      const emoji = delivery("contract.created", { note: "emoji" }, { webhookId: "wh-🎉" });
      expect((await mirror.receive(emoji)).webhookId).toBe("wh-🎉");
      expect((await allDeliveries(mirror)).every(({ id, webhookId }) => id !== "" && webhookId !== "")).toBe(
        true,
      );
    },
  );

  testCase(
    "Header looked up by exact case",
    "every kind of bag in every case verifies, and so does a prefix in any case",
    async () => {
      const pairs = Object.entries(v1.headers);
      const recased = (to: (name: string) => string) =>
        Object.fromEntries(pairs.map(([name, value]) => [to(name), value]));
      const bags: HeaderBag[] = [
        recased((name) => name),
        recased((name) => name.toUpperCase()),
        recased(headerCase),
        new Headers(pairs),
        new Map(pairs),
        pairs,
        pairs.flat(),
        Object.fromEntries(pairs.map(([name, value]) => [headerCase(name), [value]])),
      ];
      for (const headers of bags)
        expect(
          await statusesOf(await openMirror({ webhook: { headerPrefix: "x-SERVICE-" } }), { ...v1, headers }),
        ).toEqual(["200 applied"]);
    },
  );

  testCase(
    "Repeated header or array value",
    "a repeated id is never stored joined; a repeated signature is 401",
    async () => {
      const mirror = await openMirror();
      const pairs = Object.entries(v1.headers).filter(([name]) => name !== "x-service-webhook-id");
      const answer = await mirror.receive({
        ...v1,
        headers: [...pairs, ["x-service-webhook-id", "a"], ["x-service-webhook-id", "b"]],
      });
      expect(answer).toMatchObject({ status: 200, webhookId: "e-V1" });
      const bad = ["x-service-signature", `sha256=${"0".repeat(64)}`] as const;
      expect(await statusesOf(mirror, { ...v1, headers: [...Object.entries(v1.headers), bad] })).toEqual([
        "401 rejected",
      ]);
    },
  );

  testCase(
    "Compressed body: which bytes were signed?",
    "the bytes as received; inflated after, within the same bound; an unknown encoding is set aside",
    async () => {
      const mirror = await openMirror();
      await mirror.receive(proof());
      const plain = eventBody("contract.created", { id: "z", seconds: 0 });
      const headers = { "content-encoding": "gzip" };
      const overPlain = {
        ...signed(gzipSync(plain)),
        headers: { ...(signed(plain).headers as object), ...headers },
      };
      expect(await statusesOf(mirror, overPlain, signed(gzipSync(plain), { headers }))).toEqual([
        "401 rejected",
        "200 applied",
      ]);
      const bomb = signed(gzipSync(Buffer.alloc(64 * 1024 * 1024)), { headers });
      expect(await mirror.receive(bomb)).toMatchObject({
        status: 200,
        outcome: "quarantined",
        reason: "inflated-too-large",
      });
      expect(
        await mirror.receive(signed("zstd bytes", { headers: { "content-encoding": "zstd" } })),
      ).toMatchObject({ status: 200, reason: "unknown-encoding" });
      expect(await mirror.receive(signed("no gzip", { headers }))).toMatchObject({
        status: 200,
        reason: "corrupt-encoding",
      });
    },
  );

  testCase(
    "Gateway hands over the body base64-encoded",
    "with the flag the decoded bytes are hashed, without it the text as it is",
    async () => {
      const mirror = await openMirror();
      const body = Buffer.from(v1.body).toString("base64");
      expect(await statusesOf(mirror, { ...v1, body, isBase64Encoded: true })).toEqual(["200 applied"]);
      expect(await statusesOf(mirror, { ...v1, body, isBase64Encoded: false })).toEqual(["401 rejected"]);
      expect(await mirror.receive(signed(body))).toMatchObject({ status: 200, reason: "not-json" });
    },
  );
});

describe("values", () => {
  testCase(
    "Money as binary floating point",
    "11.85 and 18.35 are 30.20; a thousand refunds of 0.01 are 10.00; 19.99 is 1999",
    () => {
      const contract = foldOf(event("contract.created", { seconds: 0, amount: 30.2 })).contract;
      expect((contract.amountMinor ?? 0) - sumOf(partialRefund("1", 11.85), partialRefund("2", 18.35))).toBe(
        0,
      );
      expect(sumOf(...Array.from({ length: 1000 }, (_, index) => partialRefund(`${index}`, 0.01)))).toBe(
        1000,
      );
      expect(sumOf(partialRefund("1", 19.99))).toBe(1999);
    },
  );

  testCase(
    "NUMERIC and BIGINT come back as strings",
    "amounts and counts are numbers on every store",
    async () => {
      const seen = new Set<string>();
      for (const [, openStore] of storeKinds) {
        const mirror = await openMirror({ store: openStore() });
        for (const [index, amount] of ["0.10", "12345678901234.56", "0.20"].entries())
          await mirror.receive(
            signed(
              eventBody("refund.partial-initiated", {
                id: `${index}`,
                seconds: index,
                transactionId: index,
              }).replace('"transactionId"', `"amount":${amount},"transactionId"`),
            ),
          );
        const amounts = (await mirror.refunds.list()).items.map(({ amountMinor }) => amountMinor);
        seen.add(JSON.stringify([amounts, await mirror.contracts.count()]));
      }
      expect([...seen]).toEqual(['[[10,1234567890123456,20],{"total":1,"byStatus":{"RefundInProgress":1}}]']);
    },
  );

  testCase(
    "Integers above 2^53 change silently",
    "ids keep every digit; an amount beyond is null and flagged, never a neighbour",
    async () => {
      for (const [, openStore] of storeKinds) {
        const mirror = await openMirror({ store: openStore() });
        const ids = ["9007199254740993", "9223372036854775807", "9223372036854775808"];
        for (const id of ids)
          await mirror.receive(
            signed(
              `{"id":${id},"event":"refund.full-initiated","data":{"contractId":${id},"transactionId":${id},"amount":${id},"timestamp":"${at(0)}"}}`,
            ),
          );
        expect(
          (await mirror.refunds.list()).items.map(({ refundId, contractId, amountMinor }) => [
            refundId,
            contractId,
            amountMinor,
          ]),
        ).toEqual(ids.map((id) => [id, id, null]));
        expect((await mirror.anomalies.list({ kind: "amount-range" })).items).toHaveLength(3);
        expect((await mirror.deliveries.list()).items.map(({ payloadId }) => payloadId).reverse()).toEqual(
          ids,
        );
      }
    },
  );

  testCase(
    "Booleans, dates, undefined cannot be bound",
    "any JSON value in any field leaves equal rows on every store, and no error",
    async () => {
      const odd = [true, false, null, {}, { a: [null] }, [], 0, -1.5, "", "2026-04-14", 1e300];
      const rows = new Set<string>();
      for (const [, openStore] of storeKinds) {
        const mirror = await openMirror({ store: openStore() });
        const answers: string[] = [];
        for (const field of [
          "reference",
          "metadata",
          "timestamp",
          "status",
          "amount",
          "milestoneId",
          "currency",
        ])
          for (const [index, value] of odd.entries())
            answers.push(
              ...(await statusesOf(
                mirror,
                delivery("contract.created", {
                  id: `${field}${index}`,
                  contractId: field,
                  seconds: index,
                  [field]: value,
                }),
              )),
            );
        expect(answers.filter((answer) => !answer.startsWith("200"))).toEqual([]);
        const { items } = await mirror.contracts.list();
        rows.add(JSON.stringify([answers, items, await mirror.anomalies.list({ limit: 500 })]));
      }
      expect(rows.size).toBe(1);
    },
  );

  testCase(
    "JavaScript array sent as a Postgres array",
    "a body whose root is an array is kept as it is",
    async () => {
      const mirror = await openMirror({ store: sqlite(":memory:") });
      expect(await mirror.receive(signed('[{"milestones":[1,2]}]'))).toMatchObject({
        status: 200,
        reason: "invalid-payload",
      });
      const [aside] = (await mirror.quarantine.list()).items;
      expect(Buffer.from((await aside?.body()) ?? "").toString()).toBe('[{"milestones":[1,2]}]');
    },
  );

  testCase(
    "Key-casing plugin rewrites stored JSON",
    "the stored bytes keep the casing of every key",
    async () => {
      const mirror = await openMirror({ store: sqlite(":memory:") });
      const body = eventBody("contract.created", {
        seconds: 0,
        custom_fields: { field_ab: 1 },
        PascalKey: 2,
      });
      const { webhookId } = await mirror.receive(signed(body));
      expect(
        Buffer.from((await (await mirror.deliveries.get(webhookId ?? ""))?.body()) ?? "").toString(),
      ).toBe(body);
    },
  );

  testCase(
    "Field casing differs between webhook and API",
    "camel, Pascal and mixed case read alike; a missing id or two values are quarantined",
    async () => {
      const recase = (value: unknown, to: (key: string) => string): unknown =>
        typeof value === "object" && value !== null
          ? Object.fromEntries(Object.entries(value).map(([key, inner]) => [to(key), recase(inner, to)]))
          : value;
      const body = JSON.parse(
        eventBody("contract.created", {
          id: "1",
          seconds: 0,
          amount: 5,
          reference: "R",
          metadata: { metadata1: "m" },
        }),
      ) as unknown;
      const contracts = new Set<string>();
      for (const to of [(key: string) => key, pascal, alternating]) {
        const mirror = await openMirror();
        expect(await statusesOf(mirror, signed(JSON.stringify(recase(body, to))))).toEqual(["200 applied"]);
        contracts.add(JSON.stringify(await mirror.contracts.get("CNT-1")));
      }
      expect(contracts.size).toBe(1);
      const mirror = await openMirror();
      expect(await mirror.receive(signed('{"Event":"contract.created","Data":{}}'))).toMatchObject({
        reason: "no-contract-id",
      });
      expect(
        await mirror.receive(delivery("contract.created", { status: "Escrow", Status: "Released" })),
      ).toMatchObject({ reason: "ambiguous-field" });
    },
  );

  testCase(
    "Null and missing treated alike",
    "a webhook never clears; a snapshot's null does, and what it omits stays",
    () => {
      const full = event("contract.created", {
        id: "1",
        seconds: 0,
        reference: "R",
        metadata: { metadata1: "m" },
      });
      const without = event("contract.approved", { id: "2", seconds: 1 });
      const withNull = event("contract.approved", {
        id: "3",
        seconds: 2,
        reference: null,
        metadata: { metadata1: null },
      });
      expect(foldOf(full, without, withNull).contract).toMatchObject({ reference: "R", metadata1: "m" });
      expect(foldOf(full, snapshot({ seconds: 3, fields: { reference: null } })).contract).toMatchObject({
        reference: null,
        metadata1: "m",
      });
    },
  );

  testCase("Same GUID in different letter case", "GUIDs meet in one refund; opaque ids stay two", () => {
    const guid = "0f8fad5b-d9cb-469f-a165-70867728950e";
    const both = foldOf(
      event("refund.full-initiated", { seconds: 0, transactionId: guid.toUpperCase() }),
      event("refund.full-succeeded", { seconds: 9, transactionId: `{${guid}}` }),
    );
    expect([...both.refunds.values()]).toMatchObject([
      { refundId: guid, state: "succeeded", initiatedAt: at(0), succeededAt: at(9) },
    ]);
    expect(
      foldOf(
        event("refund.full-initiated", { seconds: 0, transactionId: "abC" }),
        event("refund.full-succeeded", { seconds: 9, transactionId: "abc" }),
      ).refunds.size,
    ).toBe(2);
  });

  testCase(
    "Timestamps and plain dates shift with the process zone",
    "an instant and a date are the same in every zone",
    () => {
      const zoneBefore = process.env["TZ"];
      const due = { milestoneId: "1", status: null, dueDate: "2025-01-15" };
      const states = ["Asia/Shanghai", "America/Los_Angeles", "UTC"].map((zone) => {
        process.env["TZ"] = zone;
        return foldOf(event("contract.created", { timestamp: "2025-01-15T20:00:00" }), {
          ...snapshot({ seconds: 0, milestones: [due] }),
          receivedAt: "2026-04-14T14:30:00Z",
        });
      });
      if (zoneBefore === undefined) delete process.env["TZ"];
      else process.env["TZ"] = zoneBefore;
      for (const state of states) expect(state).toEqual(states[0]);
      expect(states[0]?.contract.createdAt).toBe("2025-01-15T20:00:00Z");
      expect(states[0]?.milestones.get("1")?.dueDate).toBe("2025-01-15");
    },
  );

  testCase(
    "BigInt reaches a JSON logger",
    "the largest numbers leave log lines that JSON can hold",
    async () => {
      const logger = recordingLogger();
      const mirror = await openMirror({ logger });
      await mirror.receive(
        signed(
          `{"id":9223372036854775808,"event":"contract.created","data":{"contractId":9223372036854775807,"amount":9223372036854775807}}`,
        ),
      );
      expect(logger.lines.length).toBeGreaterThan(0);
      expect(JSON.stringify(logger.lines)).toContain("9223372036854775807");
    },
  );
});

describe("refunds", () => {
  testCase(
    "Refunds matched by amount or parent instead of id",
    "T-1 is initiated, T-2 succeeded, and only 25.00 are back",
    () => {
      const state = foldOf(
        refundEvent("1", 0, "T-1"),
        refundEvent("2", 0, "T-2"),
        refundEvent("3", 60, "T-2", "refund.full-succeeded"),
      );
      const refunds = [...state.refunds.values()];
      expect(Object.fromEntries(refunds.map(({ refundId, state: reached }) => [refundId, reached]))).toEqual({
        "T-1": "initiated",
        "T-2": "succeeded",
      });
      expect(
        refunds
          .filter(({ state: reached }) => reached === "succeeded")
          .reduce((sum, { amountMinor }) => sum + (amountMinor ?? 0), 0),
      ).toBe(2500);
    },
  );

  testCase(
    "Refund reported done, then fails",
    "the unknown failure is flagged, not swallowed; a late beginning revives nothing",
    () => {
      const failed = event("refund.full-failed", {
        id: "f",
        seconds: 200,
        transactionId: "T-1",
        previousStatus: "Refunded",
      });
      const late = refundEvent("late", 300, "T-1");
      const state = foldOf(
        refundEvent("1", 0, "T-1"),
        refundEvent("2", 100, "T-1", "refund.full-succeeded"),
        failed,
        late,
      );
      expect(kindsOf(state)).toEqual(["gap", "unknown-event", "after-terminal"]);
      expect(state.refunds.get("T-1")).toMatchObject({ state: "succeeded" });
      expect(state.contract.status).toBe("Refunded");
    },
  );

  testCase(
    "Pending refund shown as failed",
    "a silent refund is initiated, listed by its age, and succeeds when the webhook comes",
    async () => {
      const clock = testClock();
      const mirror = await openMirror({ clock });
      await mirror.receive(delivery("refund.full-initiated", { id: "1", seconds: 0, transactionId: "T" }));
      clock.advance(86_400_000);
      expect((await mirror.refunds.list({ state: "initiated", olderThan: 3_600_000 })).items).toMatchObject([
        { refundId: "T", succeededAt: null },
      ]);
      await mirror.receive(
        delivery("refund.full-succeeded", { id: "2", seconds: 86_400, transactionId: "T" }),
      );
      expect(await mirror.refunds.get("T")).toMatchObject({ state: "succeeded" });
    },
  );
});

describe("SQLite", () => {
  testCase(
    "Async callback in a synchronous SQLite transaction",
    "write, await, write, throw: nothing remains",
    async () => {
      const store = sqlite(":memory:");
      const mirror = await openMirror({ store });
      await mirror.receive(delivery("contract.created", { id: "1", seconds: 0 }));
      const work = store.transaction(async (tx) => {
        await tx.updateEach("contracts", "contractId", [{ contractId: "CNT-1", title: "one" }]);
        await new Promise((resolve) => setImmediate(resolve));
        await tx.updateEach("contracts", "contractId", [{ contractId: "CNT-1", notes: "two" }]);
        throw new Error("fault");
      });
      await expect(work).rejects.toThrow("fault");
      expect(await mirror.contracts.get("CNT-1")).toMatchObject({ title: null, notes: null });
    },
  );

  testCase(
    "WAL file grows without bound",
    "a listing that goes on while thousands of deliveries arrive holds no long read, and the file stays small",
    async () => {
      const file = temporaryFile();
      const mirror = await openMirror({ store: sqlite(file) });
      const pad = "x".repeat(10_000);
      let largest = 0;
      let cursor: string | null = null;
      for (let round = 0; round < 30; round++) {
        await Promise.all(
          Array.from({ length: 100 }, (_, index) =>
            mirror.receive(
              delivery("contract.created", {
                id: `${round}-${index}`,
                seconds: 0,
                contractId: `C-${round}-${index}`,
                pad,
              }),
            ),
          ),
        );
        const page: Awaited<ReturnType<Mirror["contracts"]["list"]>> = await mirror.contracts.list({
          limit: 20,
          cursor,
        });
        cursor = page.nextCursor;
        largest = Math.max(largest, statSync(`${file}-wal`).size);
      }
      await mirror.close();
      expect(statSync(file).size).toBeGreaterThan(32 * 1024 * 1024);
      expect(largest).toBeLessThan(24 * 1024 * 1024);
    },
  );
});

it("the skew of these tests is the default", () => {
  expect(skewMs).toBe(60_000);
});
