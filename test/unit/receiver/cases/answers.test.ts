/** Cases from public bug reports: what a delivery is answered. */
import Database from "better-sqlite3";
import { expect } from "vitest";
import { sqlite } from "../../../../src/store/sqlite/store.ts";
import { casesOf, statusesOf, allDeliveries, v1, tally } from "../../../support/cases.ts";
import {
  at,
  delivery,
  event,
  eventBody,
  fixtureDelivery,
  foldOf,
  signed,
  snapshot,
} from "../../../support/delivery.ts";
import { openMirror, recordingLogger, settle, temporaryFile } from "../../../support/mirror.ts";
import { startChild } from "../../../support/process.ts";

const testCase = casesOf("answers");

const createdOf = (id: string, contractId: string) =>
  delivery("contract.created", { id, seconds: 0, contractId }, { webhookId: id });

const padded = (bytes: number) => {
  const bare = eventBody("contract.created", { pad: "" });
  return bare.replace('"pad":""', `"pad":"${"x".repeat(bytes - bare.length)}"`);
};

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
    const children = await Promise.all(["a", "b"].map((name) => startChild("deliver", file, name, "50")));
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
  expect((await mirror.quarantine.list()).items).toMatchObject([{ webhookId: "wh-V11", reason: "not-json" }]);
});
