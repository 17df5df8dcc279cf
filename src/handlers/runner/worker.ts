/** This process in the queue. While it shows that it is alive, the jobs that it has claimed are its own. */
import { toIsoTime, type Clock } from "../../shared/clock.ts";
import { settle } from "../../shared/result.ts";
import { monotonicMs } from "../../shared/timers.ts";
import type { Run } from "../../store/queue.ts";
import type { Store, StoreTransaction } from "../../store/store.ts";
import { allBut } from "../../store/tables.ts";
import type { JobRow } from "../../store/tables/handlers.ts";
import { notifyOfDead } from "../dead-jobs.ts";
import type { Registry } from "../registry.ts";
import { givenBack } from "./ending.ts";

export interface WorkerParts {
  readonly store: Store;
  readonly registry: Registry;
  readonly clock: Clock;
  /** The name of this process in the queue. */
  readonly workerId: string;
  readonly leaseMs: number;
  readonly maxAttempts: number;
  /** Whether no claimed job is left here. */
  readonly isFree: () => boolean;
  /** Called when others have taken the jobs of this process. */
  readonly onLeaseLost: (reason: Error) => void;
}

export interface Worker {
  /** Shows that this process is alive, and frees the jobs of those that no longer are. */
  beat(): Promise<void>;
  /** Frees the jobs of those that are no longer alive. */
  reclaim(): Promise<void>;
  /** Stores whether this process listens for new jobs. If it does, others notify it when they add one. */
  setListening(isListening: boolean): Promise<void>;
  claim(tx: StoreTransaction, room: number): Promise<JobRow[]>;
  /** The transaction of the last `claim` is committed. */
  committed(): void;
  /** Gives back jobs that were claimed in its name and that it does not hold: it was not told that their claim was committed. */
  giveBackBut(tx: StoreTransaction, here: readonly Run[]): Promise<void>;
  /** Gives the jobs that still run here back to the queue. */
  retire(): Promise<void>;
}

export function createWorker(parts: WorkerParts): Worker {
  const { store, registry, clock, workerId, leaseMs, maxAttempts, isFree, onLeaseLost } = parts;
  /** The queue has its row, as far as it knows. */
  let isKnown = false;
  /** The queue may have its row: an answer to a commit may be lost. */
  let mayBeKnown = false;
  /** The last heartbeat. */
  let shownAt: Moment = { steadyMs: -Infinity, wallMs: -Infinity };
  /** That of a heartbeat whose transaction is not committed yet. */
  let showingAt: Moment | undefined;
  let isListening = false;
  let isLostDue = true;
  let turns = 0;

  /**
   * Locks the subscriptions after the jobs, although others lock them before, and only if a job is dead. That is rare. So a
   * second try costs less than a lock for each heartbeat: it would wait whenever somebody registers a handler.
   */
  const reclaimIn = async (tx: StoreTransaction): Promise<void> =>
    notifyOfDead(tx, await tx.jobs.reclaim({ attemptsMax: maxAttempts }));

  async function beatIn(tx: StoreTransaction): Promise<void> {
    const handlers = registry.names();
    mayBeKnown = true;
    const wasKnown = await tx.jobs.beat({ workerId, handlers, leaseMs, isListening });
    if (isKnown && !wasKnown) onLeaseLost(leaseLost());
    await reclaimIn(tx);
    if (handlers.length === 0) return;
    isLostDue ||= await isAnyLost(tx, handlers);
    await hastenFuture(tx, handlers, toIsoTime(clock.now()));
  }

  const moment = (): Moment => ({ steadyMs: monotonicMs(), wallMs: clock.now() });

  function shown(at: Moment): void {
    isKnown = true;
    if (at.steadyMs > shownAt.steadyMs) shownAt = at;
  }

  const beat = async (): Promise<void> => {
    if (registry.names().length === 0 && isFree()) return;
    const at = moment();
    await store.transaction(beatIn);
    shown(at);
  };

  /**
   * After a pause other processes may have removed this worker's row. While it has none, they take the jobs that it claims,
   * though these run here.
   */
  const isBeatDue = (): boolean => msBetween(shownAt, moment()) >= leaseMs / 2;

  return {
    beat,
    reclaim: () => store.transaction(reclaimIn),

    setListening: async (now) => {
      isListening = now;
      await settle(beat);
    },

    /** A job of a lost worker runs alone, when nothing else runs here: it may have killed its process. */
    claim: async (tx, room) => {
      showingAt = isBeatDue() ? moment() : undefined;
      if (showingAt !== undefined) await beatIn(tx);
      const handlers = rotated(registry.names(), turns++);
      const claimJobs = (limit: number, lost: boolean): Promise<JobRow[]> =>
        tx.jobs.claim({ workerId, handlers, limit, lost });
      if (!isLostDue) return claimJobs(room, false);
      if (!isFree()) return [];
      const alone = await claimJobs(1, true);
      isLostDue = alone.length > 0;
      return isLostDue ? alone : claimJobs(room, false);
    },

    committed: () => {
      if (showingAt !== undefined) shown(showingAt);
      showingAt = undefined;
    },

    giveBackBut: async (tx, here) => {
      const where = [
        { field: "workerId", op: "=", value: workerId },
        { field: "state", op: "=", value: "running" },
      ] as const;
      const isHere = (job: JobRow): boolean =>
        here.some(({ seq, claims }) => seq === job.seq && claims === job.claims);
      const mine = await tx.find("jobs", { where });
      await tx.jobs.end(mine.filter((job) => !isHere(job)).map(givenBack));
    },

    retire: async () => {
      // If this fails, the lease runs out.
      if (mayBeKnown) await settle(() => store.transaction((tx) => tx.jobs.retire(workerId)));
    },
  };
}

/** By two clocks: one is never set back, the other goes on while the machine sleeps. */
interface Moment {
  readonly steadyMs: number;
  readonly wallMs: number;
}

function msBetween(from: Moment, to: Moment): number {
  return Math.max(to.steadyMs - from.steadyMs, to.wallMs - from.wallMs);
}

/** Each handler is first in turn, so that a busy one leaves room for the others. */
function rotated(names: readonly string[], turn: number): string[] {
  const at = names.length === 0 ? 0 : turn % names.length;
  return [...names.slice(at), ...names.slice(0, at)];
}

async function isAnyLost(tx: StoreTransaction, names: readonly string[]): Promise<boolean> {
  const where = [
    { field: "handler", op: "in", value: names },
    { field: "lost", op: "=", value: true },
    { field: "state", op: "=", value: "due" },
  ] as const;
  return (await tx.find("jobs", { where, limit: 1 })).length > 0;
}

const hastenedMax = 200;

/**
 * Makes jobs run that nobody has tried yet and that are due in the future: the clock was set back since they were written. Other
 * jobs may wait for their next attempt, so they keep their time.
 */
async function hastenFuture(tx: StoreTransaction, names: readonly string[], now: string): Promise<void> {
  const where = [
    { field: "state", op: "=", value: "due" },
    { field: "createdAt", op: ">", value: now },
    { field: "nextAttemptAt", op: ">", value: now },
    { field: "attempts", op: "=", value: 0 },
    { field: "handler", op: "in", value: names },
  ] as const;
  const future = await tx.find("jobs", { where, limit: hastenedMax, without: allBut("jobs", ["seq"]) });
  if (future.length > 0) await tx.jobs.hasten(future.map(({ seq }) => seq));
}

function leaseLost(): Error {
  return new DOMException("another process has taken this job: its lease ran out", "AbortError");
}
