/** Cases from public bug reports: handlers that fail, hang, are slow or die, and what becomes of the delivery. */
import { setTimeout as sleep } from "node:timers/promises";
import { sql } from "kysely";
import { expect } from "vitest";
import type { Mirror } from "../../../../src/mirror/create-mirror.ts";
import type { MirrorOptions } from "../../../../src/mirror/options.ts";
import { sqlite } from "../../../../src/store/sqlite/store.ts";
import { casesOf, statusesOf, tally } from "../../../support/cases.ts";
import { delivery } from "../../../support/delivery.ts";
import { openMirror, temporaryFile, testClock } from "../../../support/mirror.ts";
import { postgresStore } from "../../../support/postgres.ts";

const stores = [
  ["an SQLite file", () => sqlite(temporaryFile())],
  ["Postgres", () => postgresStore()],
] as const;

type Open = (options?: Partial<MirrorOptions>) => Promise<Mirror>;

const testCase = casesOf("handlers");
const onEach = (
  heading: Parameters<typeof testCase>[0],
  right: string,
  run: (open: Open) => Promise<void>,
): void => {
  for (const [name, create] of stores)
    testCase(heading, `on ${name} ${right}`, () =>
      run((options = {}) => openMirror({ store: create(), ...options })),
    );
};

const created = (id = "1", contractId = "CNT-1") =>
  delivery("contract.created", { id, seconds: 0, contractId, status: "Pending" });

onEach(
  "Two simultaneous copies of one delivery both take effect",
  "a handler that takes its time runs once",
  async (open) => {
    const mirror = await open();
    let effects = 0;
    mirror.on("contract.created", async () => void (await sleep(50), effects++), { name: "counts" });
    const answers = await Promise.all(Array.from({ length: 20 }, () => mirror.receive(created())));
    await mirror.idle();
    expect(tally(answers.map(({ status, outcome }) => `${status} ${outcome}`))).toEqual({
      "200 applied": 1,
      "200 duplicate": 19,
    });
    expect(effects).toBe(1);
  },
);

onEach(
  "Id is recorded as seen before the handler succeeds",
  "what a handler in the transaction throws leaves the id unknown",
  async (open) => {
    const mirror = await open();
    let calls = 0;
    mirror.inTransaction(
      "contract.created",
      () => {
        if (++calls === 1) throw new Error("not yet");
      },
      { name: "first-fails" },
    );
    await mirror.idle();
    expect(await mirror.receive(created())).toMatchObject({ status: 503 });
    expect((await mirror.deliveries.list()).items).toEqual([]);
    expect(await mirror.contracts.get("CNT-1")).toBeUndefined();
    expect(await statusesOf(mirror, created(), created())).toEqual(["200 applied", "200 duplicate"]);
    expect(calls).toBe(2);
  },
);

onEach(
  "Id is recorded as seen before the handler succeeds",
  "what a handler after the commit throws is tried again, and the sender hears nothing of it",
  async (open) => {
    const clock = testClock();
    const mirror = await open({ clock, jobs: { backoffMs: 10 } });
    const attempts: number[] = [];
    mirror.on(
      "contract.created",
      (_, { attempt }) => {
        attempts.push(attempt);
        if (attempt === 1) throw new Error("not yet");
      },
      { name: "first-fails" },
    );
    expect(await statusesOf(mirror, created(), created())).toEqual(["200 applied", "200 duplicate"]);
    await mirror.idle();
    clock.advance(10);
    await mirror.idle();
    expect(attempts).toEqual([1, 2]);
  },
);

onEach(
  "State checked and changed in separate steps",
  "of ten events of one milestone at once, three of which release it, one move to Released is told",
  async (open) => {
    const mirror = await open();
    const released: string[] = [];
    mirror.onTransition(
      { entity: "milestone", to: "Released" },
      ({ contractId }) => void released.push(contractId),
      { name: "pays-out" },
    );
    const contracts = Array.from({ length: 20 }, (_, index) => `CNT-${index}`);
    for (const contractId of contracts) {
      const step = (event: string, id: string, seconds: number) =>
        delivery(event, { id: `${contractId} ${id}`, seconds, contractId, milestoneId: 5 });
      await Promise.all(
        [
          ...["a", "b", "c"].map((id) => step("milestone.released", `r${id}`, 30)),
          ...["a", "b", "c"].map((id) => step("milestone.approved", `a${id}`, 10)),
          ...["a", "b", "c", "d"].map((id) => step("milestone.payment.completed", `p${id}`, 20)),
        ].map((request) => mirror.receive(request)),
      );
    }
    await mirror.idle();
    expect(released.sort()).toEqual([...contracts].sort());
  },
);

onEach("Unknown event type answered with an error", 'a handler of "*" hears of it', async (open) => {
  const mirror = await open();
  const seen: string[] = [];
  mirror.on("*", ({ event, known }) => void seen.push(`${event} ${known}`), { name: "all" });
  const request = delivery("contract.teleported", { id: "t", seconds: 0 });
  expect(await statusesOf(mirror, request)).toEqual(["200 applied"]);
  await mirror.idle();
  expect(seen).toEqual(["contract.teleported false"]);
});

onEach(
  "One permanently failing event blocks the rest",
  "it is dead after three attempts and listed, the rest of its contract and others go on, and a retry runs it",
  async (open) => {
    const clock = testClock();
    const mirror = await open({ clock, jobs: { maxAttempts: 3, backoffMs: 10 } });
    const seen: string[] = [];
    let isBroken = true;
    mirror.on(
      "*",
      ({ event, contractId }) => {
        if (isBroken && event === "contract.created" && contractId === "CNT-1") throw new Error("always");
        seen.push(`${contractId} ${event}`);
      },
      { name: "all" },
    );
    const second = delivery("contract.approved", { id: "2", seconds: 1 });
    expect(await statusesOf(mirror, created(), second, created("3", "CNT-2"))).toEqual(
      Array.from({ length: 3 }, () => "200 applied"),
    );
    for (let attempt = 0; attempt < 3; attempt++) {
      await mirror.idle();
      clock.advance(1000);
    }
    await mirror.idle();
    expect(seen.sort()).toEqual(["CNT-1 contract.approved", "CNT-2 contract.created"]);
    const { items } = await mirror.jobs.list({ state: "dead" });
    expect(items).toMatchObject([{ attempts: 3, contractId: "CNT-1", lastError: "Error: always" }]);
    isBroken = false;
    await mirror.jobs.retry(items[0]?.id ?? "");
    await mirror.idle();
    expect(seen).toContain("CNT-1 contract.created");
  },
);

onEach(
  "Handler slower than the sender's time-out",
  "the answer does not wait for it, copies that come meanwhile are duplicates, and it runs once",
  async (open) => {
    const mirror = await open();
    let end: (() => void) | undefined;
    let runs = 0;
    mirror.on("contract.created", () => (runs++, new Promise<void>((resolve) => (end = resolve))), {
      name: "slow",
    });
    expect(await statusesOf(mirror, created())).toEqual(["200 applied"]);
    await expect.poll(() => end).toBeDefined();
    expect(await statusesOf(mirror, created(), created())).toEqual(["200 duplicate", "200 duplicate"]);
    end?.();
    await mirror.idle();
    expect(runs).toBe(1);
  },
);

onEach(
  "Handler slower than the sender's time-out",
  "in the transaction it is ended by its time, and copies are answered 503 until one goes through",
  async (open) => {
    const mirror = await open({ handlerTimeoutMs: 100 });
    let runs = 0;
    mirror.inTransaction("contract.created", () => (++runs === 1 ? new Promise(() => {}) : undefined), {
      name: "hangs-once",
    });
    await mirror.idle();
    expect(await statusesOf(mirror, created(), created(), created())).toEqual([
      "503 failed",
      "200 applied",
      "200 duplicate",
    ]);
    expect(runs).toBe(2);
  },
);

onEach(
  "Close while a delivery is being handled",
  "a delivery in its handler is committed and answered 200, a new one gets 503, and the store closes last",
  async (open) => {
    const mirror = await open();
    let end: (() => void) | undefined;
    mirror.inTransaction(
      "contract.created",
      async ({ contractId }, { trx }) => {
        await new Promise<void>((resolve) => (end = resolve));
        await sql`select ${contractId}`.execute(trx);
      },
      { name: "slow" },
    );
    await mirror.idle();
    const running = mirror.receive(created());
    await expect.poll(() => end).toBeDefined();
    const closing = mirror.close();
    expect(await mirror.receive(created("2", "CNT-2"))).toMatchObject({ status: 503, reason: "closed" });
    end?.();
    expect(await running).toMatchObject({ status: 200, outcome: "applied" });
    await closing;
  },
);

onEach(
  "Close while a delivery is being handled",
  "a job that does not end by the deadline is due for another process, with its attempt given back",
  async (open) => {
    const mirror = await open();
    let isRunning = false;
    mirror.on("contract.created", () => ((isRunning = true), new Promise(() => {})), { name: "hangs" });
    await mirror.receive(created());
    await expect.poll(() => isRunning).toBe(true);
    const watching = mirror.db.selectFrom("jobs").select(["state", "attempts"]);
    expect(await watching.execute()).toEqual([{ state: "running", attempts: 1 }]);
    await mirror.close({ deadlineMs: 10 });
  },
);

onEach(
  "Async callback in a synchronous SQLite transaction",
  "what a handler wrote, awaited, wrote and threw away is gone, and so is its delivery",
  async (open) => {
    const mirror = await open();
    mirror.inTransaction(
      "contract.created",
      async (_, { trx }) => {
        const write = (name: string) =>
          trx
            .insertInto("secrets")
            .values({ fingerprint: name, secret_id: name, verified_at: name })
            .execute();
        await write("before");
        await sleep(5);
        await write("after");
        throw new Error("no");
      },
      { name: "throws" },
    );
    await mirror.idle();
    expect(await mirror.receive(created())).toMatchObject({ status: 503, reason: "handler-failed" });
    const left = mirror.db.selectFrom("secrets").select("fingerprint");
    const names = (await left.execute()).map(({ fingerprint }) => fingerprint);
    expect(names.filter((name) => name === "before" || name === "after")).toEqual([]);
    expect((await mirror.deliveries.list()).items).toEqual([]);
  },
);

onEach(
  "Stored delivery re-verified after the window",
  "a handler that failed is run again days later, and a delivery replayed, whatever its signature's age",
  async (open) => {
    const clock = testClock();
    const mirror = await open({ clock, jobs: { maxAttempts: 1 } });
    let isBroken = true;
    const seen: unknown[] = [];
    mirror.on(
      "contract.created",
      ({ raw }) => {
        if (isBroken) throw new Error("always");
        seen.push((raw as { event: string }).event);
      },
      { name: "fails" },
    );
    const request = delivery("contract.created", { id: "1", seconds: 0 }, { webhookId: "wh-1" });
    expect(await statusesOf(mirror, request)).toEqual(["200 applied"]);
    await mirror.idle();
    clock.advance(2 * 86_400_000);
    isBroken = false;
    await mirror.jobs.retry((await mirror.jobs.list({ state: "dead" })).items[0]?.id ?? "");
    await mirror.idle();
    expect(await mirror.deliveries.replay("wh-1")).toBe(1);
    await mirror.idle();
    expect(seen).toEqual(["contract.created", "contract.created"]);
  },
);
