/**
 * Runs this process's handlers. It goes by turns: each is one transaction that ends the runs that are over and takes the next
 * jobs, so that a job costs one commit, shared with its neighbours.
 */
import { toIsoTime, type Clock } from "../shared/clock.ts";
import { nameOfError } from "../shared/errors.ts";
import type { Logger } from "../shared/logger.ts";
import { settle } from "../shared/result.ts";
import { clearTimeout, nextTurn, setTimeout, sleep } from "../shared/timers.ts";
import { noLongerThan } from "../shared/within.ts";
import type { Settlement } from "../store/queue.ts";
import type { Store, StoreTransaction } from "../store/store.ts";
import type { JobRow } from "../store/tables/handlers.ts";
import type { Recorder } from "../telemetry/recorder.ts";
import { deadJobs } from "./dead-jobs.ts";
import type { Handler, HandlerContext } from "./handler.ts";
import { toSettlement, type RetryPolicy } from "./outcome.ts";
import type { Inside } from "./inside.ts";
import type { Registry } from "./registry.ts";
import { runHandler, type RunResult } from "./run.ts";
import { loadAssignments, type Assignment } from "./subject.ts";

export interface RunnerOptions extends RetryPolicy {
  /** Whether jobs are run here without being asked to. */
  readonly run: boolean;
  readonly concurrency: number;
  readonly leaseMs: number;
  readonly timeoutMs: number;
}

export interface RunnerParts {
  readonly store: Store;
  readonly registry: Registry;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly recorder: Recorder;
  readonly options: RunnerOptions;
  /** Who this process is in the queue. */
  readonly workerId: string;
  readonly inside: Inside;
  /** Runs the job of an `inTransaction` handler in a transaction that ends it too. */
  readonly runInTransaction: (
    handler: Handler,
    assignment: Assignment,
    context: HandlerContext,
  ) => Promise<void>;
}

export interface Runner {
  /** Jobs may be due. */
  wake(): void;
  /** Runs what is due until nothing is, or the signal is aborted. Gives the number of runs. */
  drain(signal?: AbortSignal): Promise<number>;
  /** Whether a job of this process's handlers is due. */
  isAnyDue(): Promise<boolean>;
  /** No new runs; running ones are told, and given back when `deadlineMs` is over. */
  close(deadlineMs: number): Promise<void>;
}

interface Run {
  readonly job: JobRow;
  readonly stop: AbortController;
  readonly over: Promise<void>;
}

export function createRunner(parts: RunnerParts): Runner {
  const { store, registry, clock, logger, recorder, options, workerId } = parts;
  const { concurrency, leaseMs, timeoutMs } = options;
  const running = new Map<number, Run>();
  let ended: Settlement[] = [];
  let runs = 0;
  let draining = 0;
  let isLostDue = true;
  let isKnown = false;
  let isWanted = false;
  let isListening = false;
  /** A job may wait for its time. */
  let isWaiting = true;
  let turning: Promise<void> | undefined;
  let closing: AbortSignal | undefined;
  let looking: NodeJS.Timeout | undefined;
  let beating: NodeJS.Timeout | undefined;

  const isTaking = (): boolean => closing === undefined && (options.run || draining > 0);

  function wake(): void {
    isWanted = true;
    turning ??= turnWhileWanted().finally(() => (turning = undefined));
  }

  async function turnWhileWanted(): Promise<void> {
    while (isWanted) {
      isWanted = false;
      // Runs that end together share a commit.
      await nextTurn();
      const done = await settle(turn);
      if (done.ok) continue;
      logger.error(
        { step: "notify", error: nameOfError(done.error) },
        "jobs can't be claimed now: trying again",
      );
      await sleep(faultWaitMs);
      isWanted = closing === undefined;
    }
  }

  async function turn(): Promise<void> {
    const settlements = ended.splice(0);
    const room = isTaking() ? concurrency - running.size : 0;
    if (settlements.length === 0 && (room <= 0 || registry.names().length === 0)) return;
    try {
      const assignments = await store.transaction((tx) => turnIn(tx, settlements, room));
      if (settlements.some(({ end }) => end === "again")) lookSoon();
      for (const assignment of assignments) start(assignment);
    } catch (error) {
      ended.unshift(...settlements);
      throw error;
    }
  }

  async function turnIn(
    tx: StoreTransaction,
    settlements: readonly Settlement[],
    room: number,
  ): Promise<Assignment[]> {
    const held = await tx.jobs.settle(settlements);
    const dead = settlements.filter(({ end }, index) => end === "dead" && held[index] === true);
    if (dead.length > 0)
      await deadJobs(
        tx,
        dead.map(({ seq }) => seq),
      );
    if (room <= 0) return [];
    return loadAssignments(tx, await claim(tx, room));
  }

  /** A job of a lost worker is run alone, when nothing else runs here: it may have killed its process. */
  async function claim(tx: StoreTransaction, room: number): Promise<JobRow[]> {
    if (!isKnown) await beatIn(tx);
    const handlers = rotated(registry.names(), runs);
    if (!isLostDue) return tx.jobs.claim({ workerId, handlers, limit: room, lost: false });
    if (running.size > 0) return [];
    const alone = await tx.jobs.claim({ workerId, handlers, limit: 1, lost: true });
    isLostDue = alone.length > 0;
    return isLostDue ? alone : tx.jobs.claim({ workerId, handlers, limit: room, lost: false });
  }

  function start(assignment: Assignment): void {
    const { job } = assignment;
    runs++;
    const stop = new AbortController();
    if (closing !== undefined) stop.abort(closing.reason);
    running.set(job.seq, { job, stop, over: finish(assignment, stop.signal) });
  }

  async function finish(assignment: Assignment, stop: AbortSignal): Promise<void> {
    const { job } = assignment;
    const run = recorder.run(job);
    const result = await run.during(() => runOne(assignment, stop));
    running.delete(job.seq);
    if (result.end === "failed") logFailure(job, result.error);
    const settlement = toSettlement(job, result, options);
    run.ended(settlement.end);
    if (result !== settledAlready) ended.push(settlement);
    wake();
  }

  async function runOne(assignment: Assignment, stop: AbortSignal): Promise<RunResult> {
    const handler = registry.get(assignment.job.handler);
    if (handler === undefined) return { end: "stopped" };
    const isInside = handler.kind === "transaction";
    const call = (context: HandlerContext): unknown =>
      isInside
        ? parts.runInTransaction(handler, assignment, context)
        : parts.inside.job(async () => handler.run(assignment.subject as never, context as never));
    const result = await runHandler(handler, assignment, call, { timeoutMs, stop }, logger);
    return isInside && result.end === "done" ? settledAlready : result;
  }

  function logFailure({ handler, webhookId, contractId, attempts }: JobRow, error: unknown): void {
    const fields = { step: "notify", handler, webhookId, contractId, attempt: attempts };
    logger.warn({ ...fields, error: nameOfError(error) }, "a handler failed");
  }

  /** A look, and a turn where something is due. Another process may have added it. */
  async function look(): Promise<void> {
    const names = registry.names();
    const next = names.length === 0 ? null : await store.nextJobAt(names);
    isWaiting = next !== null;
    if (next !== null && next <= toIsoTime(clock.now())) wake();
  }

  /** Where others tell of jobs, and none waits for its time, a look finds only what nobody could tell of. */
  const lookInMs = (): number =>
    isListening && !isWaiting ? Math.max(heardLookMs, store.lookEveryMs) : store.lookEveryMs;

  function lookSoon(): void {
    isWaiting = true;
    if (!isListening || closing !== undefined) return;
    clearTimeout(looking);
    repeatLook();
  }

  const repeatLook = (): void => repeat(look, lookInMs, (timer) => (looking = timer));

  async function beatIn(tx: StoreTransaction): Promise<void> {
    const wasKnown = await tx.jobs.beat({ workerId, handlers: registry.names(), leaseMs, isListening });
    if (isKnown && !wasKnown) for (const { stop } of running.values()) stop.abort(leaseLost());
    isKnown = true;
    const dead = await tx.jobs.reclaim({ attemptsMax: options.maxAttempts });
    if (dead.length > 0)
      await deadJobs(
        tx,
        dead.map(({ seq }) => seq),
      );
    isLostDue ||= await isAnyLost(tx, registry.names());
  }

  const beat = async (): Promise<void> => {
    if (registry.names().length > 0) await store.transaction(beatIn);
  };

  /** Others tell of jobs as soon as they know that this process listens. */
  const stopListening = options.run
    ? store.listen?.({
        heard: (handler) => {
          if (registry.get(handler) !== undefined && isTaking()) wake();
        },
        changed: (isHeard) => {
          isListening = isHeard;
          void settle(beat);
        },
      })
    : undefined;

  function repeat(
    work: () => Promise<void>,
    everyMs: () => number,
    keep: (timer: NodeJS.Timeout) => void,
  ): void {
    const again = async (): Promise<void> => {
      await settle(work);
      if (closing === undefined) repeat(work, everyMs, keep);
    };
    const timer = setTimeout(() => void again(), everyMs());
    timer.unref();
    keep(timer);
  }

  async function drain(signal?: AbortSignal): Promise<number> {
    const before = runs;
    draining++;
    try {
      const isOpen = (): boolean => closing === undefined;
      while (isOpen()) {
        signal?.throwIfAborted();
        const known = runs;
        wake();
        await turning;
        if (running.size > 0) await Promise.race([...running.values()].map(({ over }) => over));
        else if (ended.length === 0 && !(await isAnyDue())) break;
        // Another process runs the due jobs.
        else if (runs === known) await sleep(store.lookEveryMs);
      }
      return runs - before;
    } finally {
      draining--;
    }
  }

  async function isAnyDue(): Promise<boolean> {
    const names = registry.names();
    const next = names.length === 0 ? null : await store.nextJobAt(names);
    return next !== null && next <= toIsoTime(clock.now());
  }

  if (options.run) {
    repeatLook();
    repeat(
      beat,
      () => leaseMs / 3,
      (timer) => (beating = timer),
    );
  }

  return {
    wake: () => {
      if (isTaking()) wake();
    },
    drain,
    isAnyDue,
    close: async (deadlineMs) => {
      clearTimeout(looking);
      clearTimeout(beating);
      closing = AbortSignal.abort(new DOMException("the mirror is closing", "AbortError"));
      for (const { stop } of running.values()) stop.abort(closing.reason);
      await stopListening?.();
      await noLongerThan(deadlineMs, Promise.all([...running.values()].map(({ over }) => over)));
      wake();
      await turning;
      // Where that can't be now, its lease runs out.
      if (isKnown) await settle(() => store.transaction((tx) => tx.jobs.retire(workerId)));
    },
  };
}

const faultWaitMs = 1000;
const heardLookMs = 2000;

/** An `inTransaction` job was ended in its own transaction. */
const settledAlready: RunResult = { end: "done" };

/** Each handler comes first in its turn, so that a busy one leaves the others room. */
function rotated(names: readonly string[], by: number): string[] {
  const at = names.length === 0 ? 0 : by % names.length;
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

function leaseLost(): Error {
  return new DOMException("another process has taken this job: its lease ran out", "AbortError");
}
