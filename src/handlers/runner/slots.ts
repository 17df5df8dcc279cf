/** The jobs that this process has claimed: as many as there are slots run, those behind them start as slots get free. */
import { clearTimeout, monotonicMs, setTimeout } from "../../shared/timers.ts";
import type { Ending } from "../../store/queue.ts";
import type { Assignment } from "./assignment.ts";
import { aheadOf } from "./ahead.ts";
import { givenBack } from "./ending.ts";

export interface SlotsParts {
  readonly concurrency: number;
  /** Never rejects. Gives nothing where the run has told the queue of its end itself. */
  readonly run: (assignment: Assignment, stop: AbortSignal) => Promise<Ending | undefined>;
  /** Called when there is something to tell the queue, or room for more. */
  readonly onEnd: () => void;
}

export interface Slots {
  /** Runs that are over, for the queue. Each is given once, unless it is put back. */
  takeEndings(): Ending[];
  putBack(endings: readonly Ending[]): void;
  hasEndings(): boolean;
  /** How many more jobs to claim, at the pace of these that ended since the last time. */
  room(endedNow: number): number;
  isEmpty(): boolean;
  add(assignments: readonly Assignment[]): void;
  /** Resolves when one of the running jobs, or all of them, are over. */
  someOver(): Promise<void>;
  allOver(): Promise<void>;
  /** Others have these jobs by now: none starts, and those that run are told. */
  drop(reason: Error): void;
  /** Gives back the jobs that have not started. */
  giveBack(): void;
  /** Nothing starts from now on: running jobs are told, the others are given back. */
  close(reason: Error): void;
}

interface Slot {
  readonly stop: AbortController;
  readonly over: Promise<void>;
}

/** A job behind slow ones is for whoever has a free slot. */
const patienceMs = 200;

export function createSlots({ concurrency, run, onEnd }: SlotsParts): Slots {
  const running = new Map<number, Slot>();
  let next: Assignment[] = [];
  let endings: Ending[] = [];
  let lastAt = monotonicMs();
  let isClosed = false;
  let giving: NodeJS.Timeout | undefined;

  function fill(): void {
    while (next.length > 0 && running.size < concurrency) start(next.shift() as Assignment);
  }

  function start(assignment: Assignment): void {
    const stop = new AbortController();
    running.set(assignment.job.seq, { stop, over: finish(assignment, stop.signal) });
  }

  async function finish(assignment: Assignment, stop: AbortSignal): Promise<void> {
    const ending = await run(assignment, stop);
    running.delete(assignment.job.seq);
    if (ending !== undefined) endings.push(ending);
    fill();
    onEnd();
  }

  function giveBack(): void {
    if (next.length === 0) return;
    endings.push(...next.map(({ job }) => givenBack(job)));
    next = [];
    onEnd();
  }

  const stopAll = (reason: Error): void => {
    for (const { stop } of running.values()) stop.abort(reason);
  };
  const overs = (): Promise<void>[] => [...running.values()].map(({ over }) => over);

  return {
    takeEndings: () => endings.splice(0),
    putBack: (taken) => void endings.unshift(...taken),
    hasEndings: () => endings.length > 0,
    isEmpty: () => running.size + next.length === 0,

    room: (endedNow) => {
      const sinceMs = monotonicMs() - lastAt;
      lastAt += sinceMs;
      return concurrency + aheadOf(endedNow, sinceMs) - running.size - next.length;
    },

    add: (assignments) => {
      next.push(...assignments);
      if (!isClosed) fill();
      clearTimeout(giving);
      if (isClosed) giveBack();
      else if (next.length > 0) giving = setTimeout(giveBack, patienceMs).unref();
    },

    someOver: () => Promise.race(overs()),
    allOver: async () => void (await Promise.all(overs())),

    giveBack,

    drop: (reason) => {
      next = [];
      stopAll(reason);
    },

    close: (reason) => {
      isClosed = true;
      clearTimeout(giving);
      stopAll(reason);
      giveBack();
    },
  };
}
