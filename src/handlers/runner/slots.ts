/** The jobs that this process has claimed: as many as there are slots run, those behind them start as slots get free. */
import { monotonicMs, setTimeout } from "../../shared/timers.ts";
import type { Ending } from "../../store/queue.ts";
import type { Assignment } from "./assignment.ts";
import { aheadOf, waitingMsMax } from "./ahead.ts";
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

/** How often jobs that wait are looked at. */
const lookMs = 50;

export function createSlots({ concurrency, run, onEnd }: SlotsParts): Slots {
  const running = new Map<number, Slot>();
  let next: Assignment[] = [];
  let endings: Ending[] = [];
  let lastAt = monotonicMs();
  let isClosed = false;
  let giving: NodeJS.Timeout | undefined;

  function fill(): void {
    giveBack(isStale);
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

  function giveBack(isGiven: (assignment: Assignment) => boolean = () => true): void {
    const given = next.filter(isGiven);
    if (given.length === 0) return;
    next = next.filter((each) => !given.includes(each));
    endings.push(...given.map(({ job }) => givenBack(job)));
    onEnd();
  }

  function giveBackInTime(): void {
    giveBack(isStale);
    giving = next.length > 0 ? setTimeout(giveBackInTime, lookMs).unref() : undefined;
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
      const free = isClosed ? 0 : concurrency - running.size;
      for (const assignment of assignments.slice(0, free)) start(assignment);
      next.push(...assignments.slice(free));
      if (isClosed) giveBack();
      else if (giving === undefined) giveBackInTime();
    },

    someOver: () => Promise.race(overs()),
    allOver: async () => void (await Promise.all(overs())),

    giveBack: () => giveBack(),

    drop: (reason) => {
      next = [];
      stopAll(reason);
    },

    close: (reason) => {
      isClosed = true;
      stopAll(reason);
      giveBack();
    },
  };
}

/** Its contract may be another by now, or redacted. */
function isStale({ readAtMs }: Assignment): boolean {
  return monotonicMs() - readAtMs >= waitingMsMax;
}
