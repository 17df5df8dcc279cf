/** Handlers, and those that wait for their jobs, where a store fails for a time or a process ends. */
import Database from "better-sqlite3";
import { expect, it } from "vitest";
import { defineHandler } from "../../src/handlers/define-handler.ts";
import { createMirror, type Mirror } from "../../src/mirror/create-mirror.ts";
import { systemClock } from "../../src/shared/clock.ts";
import { sqlite } from "../../src/store/sqlite/store.ts";
import { delivery, noonMs, secret } from "../support/delivery.ts";
import { down, limited } from "../support/failing-store.ts";
import { openMirror, temporaryFile, testClock } from "../support/mirror.ts";

const created = (contractId: string) =>
  delivery("contract.created", { id: contractId, seconds: 0, contractId });

it("runOnce and idle tell of a store that fails on while older deliveries are read, and get all once it is back", async () => {
  const writes = limited(sqlite(temporaryFile()));
  const mirror = await openMirror({ store: writes.store, jobs: { run: false } });
  for (let n = 0; n < 450; n++) await mirror.receive(created(`CNT-${n}`));
  const seen = new Set<string>();
  // The row and the first page, then no more.
  writes.left = 1;
  mirror.on("*", ({ contractId }) => void seen.add(contractId), { name: "old", since: new Date(noonMs) });
  await expect.poll(async () => mirror.handlers.list()).toHaveLength(1);
  const ends = await Promise.allSettled([mirror.jobs.runOnce(), mirror.idle()]);
  expect(ends.map((end) => end.status === "rejected" && end.reason)).toEqual([down, down]);
  writes.left = Number.POSITIVE_INFINITY;
  await mirror.jobs.runOnce();
  expect(seen.size).toBe(450);
});

async function registerThree(mirror: Mirror): Promise<void> {
  for (const name of ["a", "b", "c"]) mirror.on("*", () => undefined, { name });
  await mirror.idle();
}

it("handlers whose rows are there, and that have nothing left to read, start with one commit for all", async () => {
  const file = temporaryFile();
  await registerThree(await openMirror({ store: sqlite(file), jobs: { run: false } }));
  const writes = limited(sqlite(file));
  const mirror = await openMirror({ store: writes.store, jobs: { run: false } });
  writes.left = 1;
  await registerThree(mirror);
  expect(writes.left).toBe(0);
});

it("a handler that could not be registered is once the store is back, in a process that receives nothing too", async () => {
  const file = temporaryFile();
  const writes = limited(sqlite(file));
  const worker = await openMirror({ store: writes.store });
  const receiver = await openMirror({ store: sqlite(file), jobs: { run: false } });
  const seen: string[] = [];
  writes.left = 0;
  worker.on("*", ({ contractId }) => void seen.push(contractId), { name: "mail" });
  await expect.poll(() => writes.left).toBeLessThan(0);
  writes.left = Number.POSITIVE_INFINITY;
  await receiver.receive(created("CNT-1"));
  await expect.poll(() => seen, { timeout: 20_000 }).toEqual(["CNT-1"]);
});

it("a handler that was refused runs, and nothing tells of it any more, once the other of its name is removed", async () => {
  const mirror = await openMirror({ store: sqlite(temporaryFile()) });
  const off = mirror.on("*", () => undefined, { name: "mail" });
  await mirror.idle();
  off();
  const seen: string[] = [];
  const register = () =>
    mirror.inTransaction("*", ({ contractId }) => void seen.push(contractId), { name: "mail" });
  register();
  await expect(mirror.idle()).rejects.toMatchObject({ code: "invalid-configuration" });
  await mirror.handlers.remove("mail");
  register();
  await mirror.receive(created("CNT-1"));
  await mirror.idle();
  expect([seen, (await mirror.health()).warnings]).toEqual([["CNT-1"], []]);
});

it("a handler whose row can't be written is refused alone", async () => {
  const file = temporaryFile();
  const mirror = await openMirror({ store: sqlite(file), jobs: { run: false } });
  const beside = new Database(file);
  beside.exec(`create trigger poison before insert on escrow_subscriptions when new.name = 'bad'
    begin select raise(abort, 'no'); end`);
  beside.close();
  const seen: string[] = [];
  for (const name of ["a", "bad", "c"]) mirror.on("*", () => void seen.push(name), { name });
  await mirror.receive(created("CNT-1"));
  await expect(mirror.jobs.runOnce()).rejects.toThrow();
  expect([seen.sort(), (await mirror.health()).warnings]).toEqual([
    ["a", "c"],
    [expect.stringMatching(/^A handler was refused/)],
  ]);
});

const handler = defineHandler("mail", "*", () => undefined);

it.each([
  ["of one name", [handler, handler]],
  ["of which one has no name", [handler, { ...handler, name: "" }]],
])("handlers %s are refused before the store is opened", async (_, handlers) => {
  const store = sqlite(temporaryFile());
  const options = { store, webhook: { secrets: secret }, handlers };
  await expect(createMirror(options)).rejects.toMatchObject({ code: "invalid-argument" });
  await expect(store.read(async () => undefined)).rejects.toThrow("is not open");
});

it("idle does not wait for ever for a job of a killed process where no other runs jobs", async () => {
  const [store, clock] = [sqlite(temporaryFile()), testClock()];
  const mirror = await openMirror({ store, clock, jobs: { run: false } });
  mirror.on("*", () => undefined, { name: "mail" });
  await mirror.receive(created("CNT-1"));
  const killed = { workerId: "killed", handlers: ["mail"] };
  await store.transaction(async ({ jobs }) => {
    await jobs.beat({ ...killed, leaseMs: 30_000, isListening: false });
    await jobs.claim({ ...killed, limit: 1, lost: false });
  });
  clock.advance(60_000);
  await mirror.idle();
  expect((await mirror.jobs.list()).items).toMatchObject([{ state: "due", attempts: 0 }]);
});

const leaseMs = 100;

/** Does so with a mirror while it runs a job, and waits until it has shown that it lives for several leases more. */
async function outlastLease(act: (mirror: Mirror, off: () => void) => unknown): Promise<void> {
  const file = temporaryFile();
  const mirror = await openMirror({ store: sqlite(file), clock: systemClock, jobs: { leaseMs } });
  let end: (() => void) | undefined;
  const off = mirror.on("*", () => new Promise<void>((resolve) => (end = resolve)), { name: "mail" });
  await mirror.receive(created("CNT-1"));
  await expect.poll(() => end).toBeDefined();
  const acting = act(mirror, off);
  const beside = new Database(file);
  const alive = beside.prepare<[], string>("select alive_until from escrow_workers").pluck();
  const from = new Date(Date.now() + 5 * leaseMs).toISOString();
  await expect.poll(() => (alive.get() ?? "") > from, { timeout: 10_000 }).toBe(true);
  end?.();
  await acting;
  beside.close();
}

it.each<[string, (mirror: Mirror, off: () => void) => unknown]>([
  ["was taken off", (_, off) => off()],
  ["goes on while its mirror closes", (mirror) => mirror.close({ deadlineMs: 60_000 })],
])("a run whose handler %s keeps its job: no other process runs it at the same time", async (_, act) => {
  await outlastLease(act);
});
