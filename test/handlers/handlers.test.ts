import { setTimeout as sleep } from "node:timers/promises";
import Database from "better-sqlite3";
import { expect, it } from "vitest";
import { RetryAfterError } from "../../src/handlers/errors.ts";
import type { WebhookEvent } from "../../src/handlers/event.ts";
import type { HandlerContext } from "../../src/handlers/handler.ts";
import { EscrowMirrorError } from "../../src/shared/errors.ts";
import { sqlite } from "../../src/store/sqlite/store.ts";
import { delivery } from "../support/delivery.ts";
import { openMirror, storeKinds, temporaryFile, testClock, withTransactions } from "../support/mirror.ts";
import { describeDoneJobs } from "./done-jobs-contract.ts";
import { describeHandlers } from "./handlers-contract.ts";
import { describeHandlersHealth } from "./health-contract.ts";
import { describeInTransaction } from "./in-transaction-contract.ts";
import { describeOddHandlers } from "./odd-handlers-contract.ts";
import { describeRetryAll } from "./retry-all-contract.ts";

for (const [name, create] of storeKinds) {
  describeHandlers(name, create);
  describeHandlersHealth(name, create);
  describeDoneJobs(name, create);
  describeOddHandlers(name, create);
  describeRetryAll(name, create);
}

describeInTransaction("sqlite file", async () => {
  const file = temporaryFile();
  const database = new Database(file);
  database.exec("create table ledger (contract text primary key)");
  database.close();
  return { store: sqlite(file), table: "ledger" };
});

it("jobs run whose claim was committed, though its process heard of a fault", async () => {
  const inner = sqlite(temporaryFile());
  const seen: unknown[] = [];
  let isLost = false;
  const store = withTransactions(inner, async (work) => {
    const result = await inner.transaction(work);
    if (!isLost || !Array.isArray(result) || result.length === 0 || !("job" in result[0])) return result;
    isLost = false;
    throw new EscrowMirrorError("store-unavailable", "the connection was lost");
  });
  const mirror = await openMirror({ store });
  mirror.on("*", ({ contractId }) => void seen.push(contractId), { name: "see" });
  await mirror.idle();
  isLost = true;
  await mirror.receive(delivery("contract.created", { id: "a", seconds: 0 }));
  await mirror.idle();
  expect([seen, isLost]).toEqual([["CNT-1"], false]);
});

it("a job runs again whose end and next claim were committed together, though its process heard of a fault", async () => {
  const inner = sqlite(temporaryFile());
  let isLost = false;
  const store = withTransactions(inner, async (work) => {
    const result = await inner.transaction(work);
    if (!isLost) return result;
    isLost = false;
    throw new EscrowMirrorError("store-unavailable", "the connection was lost");
  });
  const mirror = await openMirror({ store });
  const seen: number[] = [];
  const retryOnce = (_: unknown, { attempt }: { readonly attempt: number }): void => {
    seen.push(attempt);
    if (seen.length > 1) return;
    isLost = true;
    throw new RetryAfterError("at once", 0);
  };
  mirror.on("*", retryOnce, { name: "see" });
  await mirror.receive(delivery("contract.created", { id: "a", seconds: 0 }));
  await mirror.idle();
  expect([seen, isLost]).toEqual([[1, 2], false]);
});

it("runOnce and idle tell of a store that fails on, and the jobs run once it is back", async () => {
  const inner = sqlite(temporaryFile());
  const down = new EscrowMirrorError("store-unavailable", "the server is read-only");
  let isDown = false;
  const store = withTransactions(inner, async (work) => {
    if (isDown) throw down;
    return inner.transaction(work);
  });
  const mirror = await openMirror({ store, jobs: { run: false } });
  const beside = await openMirror({ store });
  const seen: string[] = [];
  for (const each of [mirror, beside])
    each.on("*", ({ contractId }) => void seen.push(contractId), { name: "see" });
  for (const each of [mirror, beside]) await each.idle();
  await mirror.receive(delivery("contract.created", { id: "a", seconds: 0 }));
  isDown = true;
  const ends = await Promise.allSettled([mirror.jobs.runOnce(), beside.idle()]);
  expect(ends.map((end) => end.status === "rejected" && end.reason)).toEqual([down, down]);
  isDown = false;
  await mirror.jobs.runOnce();
  await mirror.idle();
  expect(seen).toEqual(["CNT-1"]);
});

it("a run that ends while the mirror closes does not come again, though the store fails at that moment", async () => {
  const file = temporaryFile();
  const inner = sqlite(file);
  let failures = 0;
  const store = withTransactions(inner, async (work) => {
    if (failures-- > 0) throw new EscrowMirrorError("store-unavailable", "another process holds the lock");
    return inner.transaction(work);
  });
  const mirror = await openMirror({ store });
  let end: (() => void) | undefined;
  mirror.on("*", () => new Promise<void>((resolve) => (end = resolve)), { name: "see" });
  await mirror.receive(delivery("contract.created", { id: "a", seconds: 0 }));
  await expect.poll(() => end).toBeDefined();
  const closing = mirror.close();
  failures = 2;
  end?.();
  await closing;
  const beside = new Database(file);
  expect(beside.prepare("select state from escrow_jobs").pluck().all()).toEqual(["done"]);
  beside.close();
});

it("a process that heard of no claim of its own leaves no running job behind when it closes", async () => {
  const file = temporaryFile();
  const inner = sqlite(file);
  let answers = Number.POSITIVE_INFINITY;
  const store = withTransactions(inner, async (work) => {
    const result = await inner.transaction(work);
    if (answers-- <= 0) throw new EscrowMirrorError("store-unavailable", "the connection was lost");
    return result;
  });
  const first = await openMirror({ store: sqlite(file), jobs: { run: false } });
  first.on("*", () => undefined, { name: "see" });
  await first.receive(delivery("contract.created", { id: "a", seconds: 0 }));
  await first.close();
  const mirror = await openMirror({ store });
  const beside = new Database(file);
  const all = (sql: string): unknown[] => beside.prepare(sql).pluck().all();
  // That it has registered the handler: else it takes no job of it.
  answers = 1;
  mirror.on("*", () => undefined, { name: "see" });
  await expect.poll(() => all("select state from escrow_jobs"), { timeout: 60_000 }).toEqual(["running"]);
  await mirror.close();
  expect(all("select state from escrow_jobs")).toEqual(["due"]);
  expect(all("select worker_id from escrow_workers")).toEqual([]);
  beside.close();
});

it("a process that runs jobs in runOnce alone shows that it lives while they run", async () => {
  const [file, clock] = [temporaryFile(), testClock()];
  const mirror = await openMirror({ store: sqlite(file), clock, jobs: { run: false, leaseMs: 100 } });
  const beside = new Database(file);
  const alive = (): unknown[] => beside.prepare("select alive_until from escrow_workers").pluck().all();
  const toTime = (ms: number): string => new Date(clock.now() + ms).toISOString();
  const runs: number[] = [];
  const see = async (): Promise<void> => {
    clock.advance(50);
    await expect.poll(alive).toEqual([toTime(100)]);
    runs.push(clock.now());
  };
  mirror.on("*", see, { name: "see" });
  await mirror.receive(delivery("contract.created", { id: "a", seconds: 0 }));
  await mirror.jobs.runOnce();
  expect(runs).toHaveLength(1);
  beside.close();
});

it("a handler that starts later than its job was claimed gets the contract as it is at its start", async () => {
  const mirror = await openMirror({ store: sqlite(temporaryFile()), jobs: { concurrency: 1, run: false } });
  const send = (event: string, contractId: string, status: string) =>
    mirror.receive(delivery(event, { id: `${event} ${contractId}`, seconds: 0, contractId, status }));
  const contracts = Array.from({ length: 41 }, (_, n) => `CNT-${n}`);
  const approved: string[] = [];
  const seen = new Map<string, string | undefined>();
  const see = async ({ contractId }: WebhookEvent, { contract }: HandlerContext): Promise<void> => {
    seen.set(contractId, contract?.status);
    // The jobs before were quick, so the next one was claimed with this one.
    if (seen.size % 10 !== 0) return;
    const next = contracts.find((each) => !seen.has(each)) ?? "";
    approved.push(next);
    await send("contract.approved", next, "Approved");
    // Whatever was read before is old then.
    await sleep(50);
  };
  mirror.on("contract.created", see, { name: "see" });
  for (const contractId of contracts) await send("contract.created", contractId, "Pending");
  await mirror.jobs.runOnce();
  expect(approved.map((each) => seen.get(each))).toEqual(Array(4).fill("Approved"));
});

it("a job goes back, and no attempt counts, if the store fails when its contract is read at its start", async () => {
  const inner = sqlite(temporaryFile());
  let isAway = false;
  const store = Object.assign(Object.create(inner) as typeof inner, {
    read: async (work: Parameters<typeof inner.read>[0]) => {
      if (!isAway) return inner.read(work);
      isAway = false;
      throw new EscrowMirrorError("store-unavailable", "the connection was lost");
    },
  });
  const mirror = await openMirror({ store, jobs: { concurrency: 1, run: false, maxAttempts: 1 } });
  const seen: (string | undefined)[] = [];
  const see = async (_: unknown, { contract }: HandlerContext): Promise<void> => {
    isAway = seen.push(contract?.contractId) % 10 === 0;
    if (isAway) await sleep(50);
  };
  mirror.on("contract.created", see, { name: "see" });
  for (let n = 0; n < 41; n++)
    await mirror.receive(delivery("contract.created", { id: `c${n}`, seconds: 0, contractId: `CNT-${n}` }));
  await mirror.jobs.runOnce();
  isAway = false;
  expect(new Set(seen).size).toBe(41);
  expect((await mirror.jobs.list({ state: "dead" })).items).toEqual([]);
});

it("jobs behind one that hangs are run by another process", async () => {
  const file = temporaryFile();
  const seen: string[] = [];
  const ends: (() => void)[] = [];
  const [stuck, free] = [
    await openMirror({ store: sqlite(file), jobs: { concurrency: 1 } }),
    await openMirror({ store: sqlite(file) }),
  ];
  const hang = (): Promise<void> => new Promise((resolve) => ends.push(resolve));
  stuck.on("*", ({ contractId }) => (contractId === "CNT-20" ? hang() : void seen.push(contractId)), {
    name: "see",
  });
  await stuck.idle();
  const contracts = Array.from({ length: 60 }, (_, n) => `CNT-${n}`);
  await Promise.all(
    contracts.map((contractId) =>
      stuck.receive(delivery("contract.created", { id: contractId, seconds: 0, contractId })),
    ),
  );
  await expect.poll(() => ends.length).toBe(1);
  free.on("*", ({ contractId }) => void seen.push(contractId), { name: "see" });
  await expect.poll(() => seen.length, { timeout: 20_000 }).toBe(59);
  expect([...seen].sort()).toEqual(contracts.filter((each) => each !== "CNT-20").sort());
  ends[0]?.();
});

it("a handler that writes through another connection to the same file, and so waits for itself, is left out at the fifth time", async () => {
  const file = temporaryFile();
  const mirror = await openMirror({ store: sqlite(file) });
  const beside = new Database(file, { timeout: 1 });
  mirror.inTransaction("contract.created", () => void beside.exec("create table own (id)"), { name: "own" });
  const request = delivery("contract.created", { id: "c", seconds: 0 });
  for (let time = 0; time < 4; time++)
    expect(await mirror.receive(request)).toMatchObject({ status: 503, reason: "store-unavailable" });
  expect(await mirror.receive(request)).toMatchObject({ status: 200, outcome: "applied" });
  const { items } = await mirror.jobs.list({ state: "dead" });
  expect(items).toMatchObject([
    { handler: "own", lastError: expect.stringMatching(/SQLITE_BUSY/) as string },
  ]);
  beside.close();
});
