import { describe, expect, it } from "vitest";
import type { Assignment } from "../../../src/handlers/runner/assignment.ts";
import { runOf } from "../../../src/handlers/runner/ending.ts";
import { createSlots, type Slots } from "../../../src/handlers/runner/slots.ts";
import { monotonicMs } from "../../../src/shared/timers.ts";
import type { JobRow } from "../../../src/store/tables/handlers.ts";
import { settle } from "../../support/mirror.ts";

interface Open {
  readonly slots: Slots;
  /** The jobs that have started, in order. */
  readonly started: number[];
  /** The jobs that were told to stop. */
  readonly told: number[];
  /** Ends the oldest run of a job. */
  readonly finish: (seq: number) => void;
  /** Resolves when there is something for the queue. */
  readonly ended: Promise<void>;
}

function open(concurrency: number): Open {
  const started: number[] = [];
  const told: number[] = [];
  const finishers: { readonly seq: number; readonly resolve: () => void }[] = [];
  let onEnd!: () => void;
  const ended = new Promise<void>((resolve) => (onEnd = resolve));
  const slots = createSlots({
    concurrency,
    onEnd,
    run: async ({ job }, stop) => {
      started.push(job.seq);
      stop.addEventListener("abort", () => told.push(job.seq));
      await new Promise<void>((resolve) => finishers.push({ seq: job.seq, resolve }));
      return { ...runOf(job), end: "done" };
    },
  });
  const finish = (seq: number): void => {
    const [first] = finishers.splice(
      finishers.findIndex((each) => each.seq === seq),
      1,
    );
    first?.resolve();
  };
  return { slots, started, told, finish, ended };
}

const assignments = (...seqs: number[]): Assignment[] =>
  seqs.map((seq) => ({ job: jobOf(seq), readAtMs: monotonicMs() }) as Assignment);

function jobOf(seq: number): JobRow {
  const times = { nextAttemptAt: "", createdAt: "", finishedAt: null };
  const none = { contractId: null, contentKey: null, webhookId: null, payload: null, lastError: null };
  const run = { state: "running", workerId: "w", attempts: 1, claims: 1, lost: false } as const;
  return { seq, handler: "mail", jobKey: String(seq), ...none, ...times, ...run };
}

const endsOf = (slots: Slots): string[] => slots.takeEndings().map(({ seq, end }) => `${seq} ${end}`);

describe("the jobs that a process has claimed", () => {
  it("run as many at once as there are slots, in order, each next one as soon as a slot is free", async () => {
    const { slots, started, finish } = open(2);
    slots.add(assignments(1, 2, 3, 4));
    await settle();
    expect(started).toEqual([1, 2]);
    finish(2);
    await settle();
    expect(started).toEqual([1, 2, 3]);
    expect(endsOf(slots)).toEqual(["2 done"]);
    expect(endsOf(slots)).toEqual([]);
  });

  it("are given back if they wait long behind one that does not end", async () => {
    const { slots, started, ended } = open(1);
    slots.add(assignments(1, 2, 3));
    await ended;
    expect(endsOf(slots)).toEqual(["2 given-back", "3 given-back"]);
    expect(started).toEqual([1]);
    expect(slots.room(0)).toBe(0);
  });

  it("are not started long after they were read, but at once where a slot was free", async () => {
    const { slots, started, finish } = open(1);
    const old = assignments(1, 2).map((each) => ({ ...each, readAtMs: monotonicMs() - 200 }));
    slots.add([...old, ...assignments(3)]);
    finish(1);
    await settle();
    expect(started).toEqual([1, 3]);
    expect(endsOf(slots)).toEqual(["2 given-back", "1 done"]);
  });

  it("are given back at close, also those that come later; running ones are told, and may end", async () => {
    const { slots, started, told, finish } = open(1);
    slots.add(assignments(1, 2));
    slots.close(new Error("closing"));
    slots.add(assignments(3));
    finish(1);
    await slots.allOver();
    expect([started, told]).toEqual([[1], [1]]);
    expect(endsOf(slots)).toEqual(["2 given-back", "3 given-back", "1 done"]);
  });

  it("run beside a stale run of the same job, whose end leaves the newer run its slot", async () => {
    const { slots, started, finish } = open(2);
    const [stale] = assignments(1);
    if (stale === undefined) return;
    slots.add([stale]);
    slots.drop(new Error("lost"));
    slots.add([{ ...stale, job: { ...stale.job, claims: 2 } }]);
    expect(slots.room(0)).toBe(0);
    finish(1);
    await settle();
    expect([started, slots.room(0)]).toEqual([[1, 1], 1]);
    expect(slots.takeEndings()).toEqual([{ seq: 1, claims: 1, end: "done" }]);
  });

  it("are another's once the lease is lost: none starts, and nothing is said of them", async () => {
    const { slots, started, told, finish } = open(1);
    slots.add(assignments(1, 2));
    slots.drop(new Error("lost"));
    finish(1);
    await slots.allOver();
    await settle();
    expect([started, told]).toEqual([[1], [1]]);
    expect(endsOf(slots)).toEqual(["1 done"]);
    expect(slots.isEmpty()).toBe(true);
  });
});
