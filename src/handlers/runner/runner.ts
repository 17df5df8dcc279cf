/**
 * Runs this process's handlers: look → claim → run → end → wake. It works in turns. A turn is one transaction: it ends the
 * jobs whose runs are over, and claims the next jobs. So a job costs one commit, and often shares it with others.
 */
import type { Clock } from "../../shared/clock.ts";
import { nameOfError } from "../../shared/errors.ts";
import type { Logger } from "../../shared/logger.ts";
import { settle } from "../../shared/result.ts";
import { nextTurn, sleep } from "../../shared/timers.ts";
import { noLongerThan } from "../../shared/within.ts";
import type { Ending } from "../../store/queue.ts";
import type { Store, StoreTransaction } from "../../store/store.ts";
import { notifyOfDead } from "../dead-jobs.ts";
import type { Registry } from "../registry.ts";
import { loadAssignments, type Assignment } from "./assignment.ts";
import type { RetryPolicy } from "./ending.ts";
import { createLookout, isAnyDue } from "./lookout.ts";
import { repeat } from "./repeat.ts";
import { createSlots, type SlotsParts } from "./slots.ts";
import { createWorker } from "./worker.ts";

export interface RunnerOptions extends RetryPolicy {
  /** Whether jobs run by themselves. If not, only `drain` runs them. */
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
  readonly options: RunnerOptions;
  /** The name of this process in the queue. */
  readonly workerId: string;
  readonly runJob: SlotsParts["run"];
}

export interface Runner {
  /** Call it when jobs may be due. */
  wake(): void;
  /** Runs due jobs until none is left, or the signal is aborted. Resolves with the number of runs. */
  drain(signal?: AbortSignal): Promise<number>;
  /** Starts no more jobs. Aborts running ones, and gives them back to the queue after `deadlineMs`. */
  close(deadlineMs: number): Promise<void>;
}

const faultWaitMs = 1000;

export function createRunner(parts: RunnerParts): Runner {
  const { store, registry, clock, logger, options, workerId, runJob } = parts;
  const { concurrency, leaseMs, maxAttempts } = options;
  let runs = 0;
  let draining = 0;
  let isWanted = false;
  let isClosing = false;
  /** The queue may hold jobs that this process has claimed and does not know of: the answer to a commit was lost. */
  let isUnsure = false;
  let turning: Promise<void> | undefined;

  const run: typeof runJob = (assignment, stop) => {
    runs++;
    return runJob(assignment, stop);
  };
  const slots = createSlots({ concurrency, run, onEnd: turnSoon });
  const isFree = (): boolean => slots.isEmpty();
  const onLeaseLost = (reason: Error): void => {
    slots.drop(reason);
    isUnsure = true;
    turnSoon();
  };
  const worker = createWorker({ store, registry, workerId, leaseMs, maxAttempts, isFree, onLeaseLost });
  const onListening = (isListening: boolean): void => void worker.setListening(isListening);
  const lookout = options.run
    ? createLookout({ store, registry, clock, onDue: wake, onListening })
    : undefined;
  const beating = repeat(
    async () => void (isTaking() && (await worker.beat())),
    () => leaseMs / 3,
  );

  // A function, because it can change during an await.
  const isOver = (): boolean => isClosing;
  const isTaking = (): boolean => !isClosing && (options.run || draining > 0);

  function wake(): void {
    if (isTaking()) turnSoon();
  }

  function turnSoon(): void {
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
      const fields = { step: "notify", error: nameOfError(done.error) };
      logger.error(fields, "jobs can't be claimed now: trying again");
      await sleep(faultWaitMs);
      isWanted = !isClosing;
    }
  }

  async function turn(): Promise<void> {
    const endings = slots.takeEndings();
    const room = isTaking() && registry.names().length > 0 ? slots.room(endings.length) : 0;
    if (endings.length === 0 && room <= 0 && !isUnsure) return;
    const wasUnsure = isUnsure;
    isUnsure = false;
    try {
      const assignments = await store.transaction(async (tx) => {
        if (wasUnsure) await worker.giveBackBut(tx, [...slots.held(), ...endings]);
        return turnIn(tx, endings, room);
      });
      if (room > 0) worker.committed();
      if (endings.some(({ end }) => end === "again")) lookout?.lookSoon();
      slots.add(assignments);
    } catch (error) {
      slots.restoreEndings(endings);
      isUnsure = true;
      throw error;
    }
  }

  async function turnIn(
    tx: StoreTransaction,
    endings: readonly Ending[],
    room: number,
  ): Promise<Assignment[]> {
    const held = await tx.jobs.end(endings);
    const dead = endings.filter(({ end }, index) => end === "dead" && held[index] === true);
    await notifyOfDead(tx, dead);
    return room <= 0 ? [] : loadAssignments(tx, await worker.claim(tx, room));
  }

  async function drain(signal?: AbortSignal): Promise<number> {
    const before = runs;
    draining++;
    try {
      while (!isOver()) {
        signal?.throwIfAborted();
        const known = runs;
        turnSoon();
        await turning;
        if (!slots.isEmpty()) await slots.someOver();
        else if (!slots.hasEndings() && !(await isAnyDue(store, registry, clock))) break;
        // The due jobs are in the hands of another process.
        else if (runs === known) await sleep(store.lookEveryMs);
      }
      return runs - before;
    } finally {
      draining--;
      if (!isTaking()) slots.giveBack();
    }
  }

  return {
    wake,
    drain,
    close: async (deadlineMs) => {
      isClosing = true;
      beating.stop();
      slots.close(new DOMException("the mirror is closing", "AbortError"));
      await lookout?.stop();
      await noLongerThan(deadlineMs, slots.allOver());
      turnSoon();
      await turning;
      await worker.retire();
    },
  };
}
