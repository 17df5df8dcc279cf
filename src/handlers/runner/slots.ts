/** The jobs that this process has claimed. Each slot runs one at a time. The others wait here for a free slot. */
import { monotonicMs, setTimeout } from "../../shared/timers.ts";
import type { Ending, Run } from "../../store/queue.ts";
import type { Assignment } from "./assignment.ts";
import { aheadOf, waitingMsMax } from "./ahead.ts";
import { givenBack, runOf } from "./ending.ts";

export interface SlotsParts {
  readonly concurrency: number;
  /** Never rejects. Resolves with `undefined` if the run has ended its job in the queue itself. */
  readonly run: (assignment: Assignment, stop: AbortSignal) => Promise<Ending | undefined>;
  /** Called when there are endings to store, or room for more jobs. */
  readonly onEnd: () => void;
}

export interface Slots {
  /** Removes and returns the runs that have ended, for the queue. */
  takeEndings(): Ending[];
  /** Undoes `takeEndings`, when the queue could not store them. */
  restoreEndings(endings: readonly Ending[]): void;
  hasEndings(): boolean;
  /** How many more jobs to claim. `endedNow` is how many have ended since the last call: it shows the pace. */
  room(endedNow: number): number;
  isEmpty(): boolean;
  /** How many runs have started in all. */
  started(): number;
  /** The runs that this process has claimed. */
  held(): readonly Run[];
  add(assignments: readonly Assignment[]): void;
  /** Resolves when one of the running jobs is over. */
  someOver(): Promise<void>;
  /** Resolves when all running jobs are over. */
  allOver(): Promise<void>;
  /** Others have these jobs now: aborts those that run, and forgets those that wait. */
  drop(reason: Error): void;
  /** Gives waiting jobs back to the queue. */
  giveBack(): void;
  /** Starts nothing from now on: aborts running jobs, and gives waiting ones back to the queue. */
  close(reason: Error): void;
}

interface Slot {
  readonly stop: AbortController;
  readonly over: Promise<void>;
}

/** How often waiting jobs are checked for their age. */
const lookMs = 50;

export function createSlots({ concurrency, run, onEnd }: SlotsParts): Slots {
  /** By run, not by job: after a lost lease a job can run here for the second time while the first run goes on. */
  const running = new Map<Assignment, Slot>();
  let next: Assignment[] = [];
  let endings: Ending[] = [];
  let lastAt = monotonicMs();
  let started = 0;
  let isClosed = false;
  let giving: NodeJS.Timeout | undefined;

  function fill(): void {
    giveBack(isStale);
    while (next.length > 0 && running.size < concurrency) start(next.shift() as Assignment);
  }

  function start(assignment: Assignment): void {
    const stop = new AbortController();
    started++;
    running.set(assignment, { stop, over: finish(assignment, stop.signal) });
  }

  async function finish(assignment: Assignment, stop: AbortSignal): Promise<void> {
    const ending = await run(assignment, stop);
    running.delete(assignment);
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
    restoreEndings: (taken) => void endings.unshift(...taken),
    hasEndings: () => endings.length > 0,
    isEmpty: () => running.size + next.length === 0,
    started: () => started,

    held: () => [...[...running.keys(), ...next].map(({ job }) => runOf(job)), ...endings],

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
