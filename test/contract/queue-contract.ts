/** The queue of every store: the same commands come out as in the model, whatever they are. */
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { silentLogger } from "../../src/shared/logger.ts";
import type { Claim, NewJob, Ending, WorkerBeat } from "../../src/store/queue.ts";
import type { Store } from "../../src/store/store.ts";
import type { JobRow } from "../../src/store/tables/handlers.ts";
import { createMemoryStore } from "../../src/testing/memory-store.ts";
import { testClock, type TestClock } from "../support/mirror.ts";
import type { StoreContract } from "./each-store.ts";

const handlers = ["mail", "ledger"] as const;
const workers = ["w1", "w2"] as const;
const contracts = ["CNT-1", "CNT-2", null] as const;
const ends = ["done", "dead", "again", "given-back"] as const;

type Command =
  | { readonly do: "insert"; readonly jobs: readonly (readonly [handler: number, contract: number])[] }
  | { readonly do: "claim"; readonly worker: number; readonly limit: number; readonly lost: boolean }
  | { readonly do: "end"; readonly run: number; readonly end: number; readonly isStale: boolean }
  | { readonly do: "beat" | "retire"; readonly worker: number }
  | { readonly do: "remove"; readonly at: number; readonly states: readonly JobRow["state"][] }
  | { readonly do: "reclaim" | "revive" | "hasten" }
  | { readonly do: "wait"; readonly ms: number };

const commands: fc.Arbitrary<Command> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant("insert" as const), jobs: someJobs() }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant("claim" as const),
      worker: fc.nat(1),
      limit: fc.integer({ min: 1, max: 3 }),
      lost: fc.boolean(),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant("end" as const),
      run: fc.nat(9),
      end: fc.nat(3),
      isStale: fc.nat(5).map((one) => one === 0),
    }),
  },
  fc.record({ do: fc.constantFrom("beat" as const, "retire" as const), worker: fc.nat(1) }),
  fc.record({ do: fc.constantFrom("reclaim" as const, "revive" as const, "hasten" as const) }),
  fc.record({
    do: fc.constant("remove" as const),
    at: fc.nat(9),
    states: fc.subarray(["waiting", "due", "running", "dead"] as const, { minLength: 1 }),
  }),
  fc.record({ do: fc.constant("wait" as const), ms: fc.constantFrom(1, 500, 3000) }),
);

function someJobs() {
  return fc.array(fc.tuple(fc.nat(1), fc.nat(2)), { minLength: 1, maxLength: 4 });
}

export function describeQueue(contract: StoreContract): void {
  const { name } = contract;
  const create = (): Store => contract.create();
  describe(`the queue of ${name}`, () => {
    it("comes out as the model does, whatever is asked of it", async () => {
      const seed = Number(process.env["SEED"] ?? Date.now() & 0x7fffffff);
      await fc.assert(
        fc.asyncProperty(fc.array(commands, { minLength: 5, maxLength: 40 }), async (story) => {
          expect(await tell(create(), story)).toEqual(await tell(createMemoryStore(), story));
        }),
        { seed, numRuns: 60 },
      );
    });

    it("holds a line at a head that is tried again, and moves it on at one that is dead", async () => {
      const { store, clock } = await open(create());
      await add(store, ["a", "b"]);
      const [head] = await claim(store, { limit: 5 });
      expect(head?.jobKey).toBe("a");
      await endRun(store, head, { end: "again", error: "no", afterMs: 1000 });
      expect(await claim(store, { limit: 5 })).toEqual([]);
      clock.advance(1001);
      const [again] = await claim(store, { limit: 5 });
      expect(again).toMatchObject({ jobKey: "a", attempts: 2, lastError: "no" });
      await endRun(store, again, { end: "dead", error: "never" });
      expect(await claim(store, { limit: 5 })).toMatchObject([{ jobKey: "b", attempts: 1 }]);
      await store.close();
    });

    it("ends the wait of a job that is tried again, which counts on and holds its line", async () => {
      const { store } = await open(create());
      await add(store, ["a", "b"]);
      const [head] = await claim(store, { limit: 1 });
      await endRun(store, head, { end: "again", error: "no", afterMs: 3_600_000 });
      await store.transaction((tx) => tx.jobs.hasten([head?.seq ?? -1]));
      expect(await claim(store, { limit: 5 })).toMatchObject([{ jobKey: "a", attempts: 2, lastError: "no" }]);
      await store.close();
    });

    it("lets a run end its job once, and only while it holds it", async () => {
      const { store, clock } = await open(create());
      await add(store, ["a"]);
      await beat(store, "w1");
      const [first] = await claim(store, { limit: 1 });
      clock.advance(60_000);
      expect(await reclaim(store)).toEqual([]);
      const [second] = await claim(store, { limit: 1, lost: true, workerId: "w2" });
      expect(second).toMatchObject({ jobKey: "a", attempts: 1, lost: true });
      expect(await endRun(store, first, { end: "done" })).toEqual([false]);
      expect(await endRun(store, second, { end: "done" })).toEqual([true]);
      expect(await endRun(store, second, { end: "dead", error: "late" })).toEqual([false]);
      await store.close();
    });

    it("lets a run that lost its job end nothing, though its worker runs the job again with the same attempt", async () => {
      const { store, clock } = await open(create());
      await add(store, ["a", "b"]);
      await beat(store, "w1");
      const [stale] = await claim(store, { limit: 1 });
      clock.advance(60_000);
      await reclaim(store);
      const [last] = await claim(store, { limit: 1, lost: true, workerId: "w2" });
      await endRun(store, last, { end: "dead", error: "no" });
      await store.transaction((tx) => tx.jobs.revive([last?.seq ?? -1]));
      const [b] = await claim(store, { limit: 1, workerId: "w2" });
      await endRun(store, b, { end: "done" });
      const [again] = await claim(store, { limit: 1 });
      expect(again).toMatchObject({ jobKey: "a", workerId: "w1", attempts: 1 });
      for (const end of ["done", "given-back"] as const)
        expect(await endRun(store, stale, { end })).toEqual([false]);
      expect(await endRun(store, again, { end: "done" })).toEqual([true]);
      await store.close();
    });

    it("counts an attempt that ended its worker only if the job was alone there", async () => {
      const { store, clock } = await open(create());
      const jobs = [newJob("mail", "CNT-1", "a"), newJob("mail", "CNT-2", "b")];
      await store.transaction((tx) => tx.jobs.insert(jobs));
      await beat(store, "w1");
      expect(await claim(store, { limit: 2 })).toMatchObject([{ attempts: 1 }, { attempts: 1 }]);
      clock.advance(60_000);
      await reclaim(store);
      await beat(store, "w2");
      const [alone] = await claim(store, { limit: 1, lost: true, workerId: "w2" });
      expect(alone).toMatchObject({ attempts: 1, lost: true });
      clock.advance(60_000);
      await reclaim(store);
      const both = await claim(store, { limit: 2, lost: true, workerId: "w3" });
      const counted = new Map(both.map(({ seq, attempts }) => [seq === alone?.seq, attempts]));
      expect(counted).toEqual(
        new Map([
          [true, 2],
          [false, 1],
        ]),
      );
      await store.close();
    });

    it("frees the jobs of a worker that has no row: it claimed them after others took it for dead", async () => {
      const { store } = await open(create());
      await add(store, ["a"]);
      await claim(store, { limit: 1 });
      await beat(store, "w2");
      expect(await reclaim(store)).toEqual([]);
      expect(await claim(store, { limit: 1, lost: true, workerId: "w2" })).toMatchObject([{ jobKey: "a" }]);
      await store.close();
    });

    it("knows when the next job is due", async () => {
      const { store, clock } = await open(create());
      expect(await store.nextJobAt(["mail"])).toBeNull();
      await add(store, ["a"]);
      const at = new Date(clock.now()).toISOString();
      expect(await store.nextJobAt(["mail"])).toBe(at);
      expect(await store.nextJobAt(["ledger"])).toBeNull();
      const [head] = await claim(store, { limit: 1 });
      expect(await store.nextJobAt(["mail"])).toBeNull();
      await endRun(store, head, { end: "again", error: "", afterMs: 5000 });
      expect(await store.nextJobAt(["mail", "ledger"])).toBe(new Date(clock.now() + 5000).toISOString());
      await store.close();
    });
  });
}

interface Opened {
  readonly store: Store;
  readonly clock: TestClock;
}

async function open(store: Store): Promise<Opened> {
  const clock = testClock();
  await store.open({ migrate: "auto", logger: silentLogger, clock });
  return { store, clock };
}

function add(store: Store, keys: readonly string[]): Promise<boolean[]> {
  return store.transaction((tx) => tx.jobs.insert(keys.map((key) => newJob("mail", "CNT-1", key))));
}

function claim(store: Store, given: Partial<Claim>): Promise<JobRow[]> {
  return store.transaction((tx) =>
    tx.jobs.claim({ workerId: "w1", handlers, limit: 1, lost: false, ...given }),
  );
}

type End = Ending extends infer One ? (One extends unknown ? Omit<One, "seq" | "claims"> : never) : never;

function endRun(store: Store, job: JobRow | undefined, end: End): Promise<boolean[]> {
  const { seq, claims } = job as JobRow;
  const run = { seq, claims };
  return store.transaction((tx) => tx.jobs.end([{ ...run, ...end }]));
}

function beat(store: Store, workerId: string): Promise<boolean> {
  const worker: WorkerBeat = { workerId, handlers, leaseMs: 2000, isListening: false };
  return store.transaction((tx) => tx.jobs.beat(worker));
}

function reclaim(store: Store): Promise<JobRow[]> {
  return store.transaction((tx) => tx.jobs.reclaim({ attemptsMax: 3 }));
}

function newJob(handler: string, contractId: string | null, jobKey: string): NewJob {
  return { handler, contractId, jobKey, contentKey: null, webhookId: null, payload: null };
}

/** Runs the commands one after the other, and gives all that was answered and what is left. */
async function tell(inner: Store, story: readonly Command[]): Promise<unknown[]> {
  const { store, clock } = await open(inner);
  const answers: unknown[] = [];
  const runs: JobRow[] = [];
  let added = 0;
  const carryOut = async (command: Command): Promise<unknown> => {
    switch (command.do) {
      case "insert": {
        // Every third is one that was there before.
        const jobs = command.jobs.map(([handler, contract]) =>
          newJob(
            handlers[handler] as string,
            contracts[contract] ?? null,
            `k${added++ % 3 === 2 ? added - 2 : added}`,
          ),
        );
        return store.transaction((tx) => tx.jobs.insert(jobs));
      }
      case "claim": {
        const { limit, lost } = command;
        const claimed = await claim(store, { workerId: workers[command.worker] as string, limit, lost });
        runs.push(...claimed);
        return claimed.map(shown);
      }
      case "end": {
        const job = runs.at(-1 - command.run);
        if (job === undefined) return undefined;
        const end = { end: ends[command.end], error: "odd", afterMs: 700 } as End;
        return endRun(store, command.isStale ? { ...job, claims: job.claims - 1 } : job, end);
      }
      case "beat":
        return beat(store, workers[command.worker] as string);
      case "retire":
        return store.transaction((tx) => tx.jobs.retire(workers[command.worker] as string));
      case "reclaim":
        return (await reclaim(store)).map(shown);
      case "revive":
        return store.transaction(async (tx) => {
          const dead = await tx.find("jobs", {
            where: [{ field: "state", op: "=", value: "dead" }],
            orderBy: ["seq"],
          });
          await tx.jobs.revive(dead.map(({ seq }) => seq));
        });
      case "hasten":
        return store.transaction(async (tx) =>
          tx.jobs.hasten((await tx.find("jobs", { orderBy: ["seq"] })).map(({ seq }) => seq)),
        );
      case "remove":
        return store.transaction(async (tx) => {
          const seqs = (await tx.find("jobs", { orderBy: ["seq"] })).map(({ seq }) => seq);
          await tx.jobs.remove(seqs.slice(command.at, command.at + 2), command.states);
        });
      case "wait":
        clock.advance(command.ms);
        return undefined;
    }
  };
  for (const command of story) {
    answers.push(command.do, await carryOut(command));
    const rows = await store.read((reader) => reader.find("jobs", { orderBy: ["seq"] }));
    expect(rows.filter((row) => waitsForNobody(row, rows))).toEqual([]);
    answers.push(rows.map(shown));
    answers.push(await store.nextJobAt(handlers));
  }
  await store.close();
  return answers;
}

function waitsForNobody({ handler, contractId, state }: JobRow, rows: readonly JobRow[]): boolean {
  const line = rows.filter((row) => row.handler === handler && row.contractId === contractId);
  return state === "waiting" && !line.some((row) => row.state === "due" || row.state === "running");
}

/** Each database numbers its rows in its own way. */
function shown({ seq: _, ...job }: JobRow): object {
  return job;
}
