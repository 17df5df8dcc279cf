/**
 * Runs this process's handlers: look → claim → run → end → wake. It works in turns. A turn is one transaction: it ends the
 * jobs whose runs are over, and claims the next jobs. So a job costs one commit, and often shares it with others.
 */
import type { Clock } from "../../shared/clock.ts";
import { nameOfError } from "../../shared/errors.ts";
import type { Logger } from "../../shared/logger.ts";
import { settle } from "../../shared/result.ts";
import { monotonicMs, sleep } from "../../shared/timers.ts";
import { createTurns } from "../../shared/turns.ts";
import { noLongerThan } from "../../shared/within.ts";
import type { Store } from "../../store/store.ts";
import type { Registry } from "../registry.ts";
import type { RetryPolicy } from "./ending.ts";
import { createLookout, isAnyDue } from "./lookout.ts";
import { repeat } from "./repeat.ts";
import { createSlots, type SlotsParts } from "./slots.ts";
import { createTurn } from "./turn.ts";
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
  /**
   * Runs due jobs until none is left, or the signal is aborted. Resolves with the number of runs. Rejects with the store's
   * error if it fails again and again.
   */
  drain(signal?: AbortSignal): Promise<number>;
  /** Frees the jobs of processes that no longer live. A process that runs jobs does so by itself. */
  reclaim(): Promise<void>;
  /** Starts no more jobs. Aborts running ones, and gives them back to the queue after `deadlineMs`. */
  close(deadlineMs: number): Promise<void>;
}

export function createRunner(parts: RunnerParts): Runner {
  const { store, registry, clock, logger, options, workerId, runJob } = parts;
  const { concurrency, leaseMs, maxAttempts } = options;
  let draining = 0;
  let isClosing = false;

  // Functions, because they can change during an await.
  const isOver = (): boolean => isClosing;
  const isRunning = (): boolean => !isClosing && (options.run || draining > 0);

  const onLeaseLost = (reason: Error): void => {
    slots.drop(reason);
    turn.doubt();
    turns.soon();
  };
  const slots = createSlots({ concurrency, run: runJob, onEnd: () => turns.soon() });
  const isFree = (): boolean => slots.isEmpty();
  const worker = createWorker({
    store,
    registry,
    clock,
    workerId,
    leaseMs,
    maxAttempts,
    isFree,
    onLeaseLost,
  });
  const isTaking = (): boolean => isRunning() && registry.names().length > 0;
  const turn = createTurn({ store, slots, worker, isTaking, onAgain: () => lookout?.lookSoon() });
  const turns = createTurns(
    () => turn.take(),
    () => !isClosing,
    (error) =>
      logger.error({ step: "notify", error: nameOfError(error) }, "jobs can't be claimed now: trying again"),
  );

  const wake = (): void => {
    if (isRunning()) turns.soon();
  };
  const onListening = (isListening: boolean): void => void worker.setListening(isListening);
  const lookout = options.run
    ? createLookout({ store, registry, clock, onDue: wake, onListening })
    : undefined;
  const beating = repeat(
    // As long as it has a job: a run may outlast a `runOnce` that was stopped, and goes on while the mirror closes.
    async () => {
      if (!isRunning() && slots.isEmpty()) return;
      await worker.beat();
      if (turn.doubtAgain()) turns.soon();
    },
    () => leaseMs / 3,
  );

  async function drain(signal?: AbortSignal): Promise<number> {
    const before = slots.started();
    draining++;
    turn.doubtAgain();
    try {
      while (!isOver()) {
        signal?.throwIfAborted();
        const known = slots.started();
        turns.soon();
        await turns.over();
        if (!slots.isEmpty()) await slots.someOver();
        else if (!slots.hasEndings() && !(await isAnyDue(store, registry, clock))) break;
        // The due jobs are in the hands of another process.
        else if (slots.started() === known) await sleep(store.lookEveryMs);
      }
      return slots.started() - before;
    } finally {
      draining--;
      if (!isRunning()) slots.giveBack();
    }
  }

  return {
    wake,
    drain,
    reclaim: () => worker.reclaim(),
    close: async (deadlineMs) => {
      const endsAt = monotonicMs() + deadlineMs;
      isClosing = true;
      slots.close(new DOMException("the mirror is closing", "AbortError"));
      await lookout?.stop();
      await noLongerThan(deadlineMs, slots.allOver());
      beating.stop();
      // A run that has ended, and can't be stored, comes again elsewhere.
      do {
        turns.soon();
        await settle(() => turns.over());
      } while (slots.hasEndings() && monotonicMs() < endsAt);
      await worker.retire();
    },
  };
}
