/** The handlers of one mirror: registering them, running their jobs, and their part of a commit. */
import { randomUUID } from "node:crypto";
import type { Clock } from "../shared/clock.ts";
import type { Logger } from "../shared/logger.ts";
import { sleep } from "../shared/timers.ts";
import type { Store } from "../store/store.ts";
import type { Recorder } from "../telemetry/recorder.ts";
import { toHandler, type Handler, type HandlerOptions } from "./handler.ts";
import { createSweeper } from "./done-jobs.ts";
import { createDispatch, type Dispatch } from "./dispatch.ts";
import type { HandlerScope } from "./handler-scope.ts";
import { createRegistry, type Registry } from "./registry.ts";
import { addReplay } from "./replay.ts";
import { isAnyDue } from "./runner/lookout.ts";
import { createRun } from "./runner/run.ts";
import { createRunner, type Runner, type RunnerOptions } from "./runner/runner.ts";

export interface HandlersParts {
  /** Reads inside a handler's transaction go through that transaction. */
  readonly store: Store;
  readonly scope: HandlerScope;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly recorder: Recorder;
  readonly options: RunnerOptions;
  readonly handlerTimeoutMs: number;
  /** The `seq` of the newest delivery when the mirror was created. */
  readonly startAt: number;
}

export interface Handlers {
  readonly registry: Registry;
  readonly dispatch: Dispatch;
  readonly runner: Runner;
  add(kind: Handler["kind"], on: unknown, run: unknown, options: HandlerOptions): () => void;
  replay(id: string): Promise<number>;
  /** Resolves when no job of this process's handlers is due or running. Rejects then if a handler was refused. */
  idle(): Promise<void>;
  /** Runs due jobs, and removes old done ones. Resolves with the number of runs. Rejects at the end if a handler was refused. */
  runOnce(signal: AbortSignal | undefined): Promise<number>;
  /** Starts no more jobs. Aborts running ones, and gives them back to the queue after `deadlineMs`. */
  close(deadlineMs: number): Promise<void>;
}

export function createHandlers(parts: HandlersParts): Handlers {
  const { store, scope, clock, logger, options, handlerTimeoutMs, startAt } = parts;
  const registry = createRegistry({ store, clock, logger, startAt, onJobs: () => runner.wake() });
  const runner = createRunner({
    store,
    registry,
    clock,
    logger,
    options,
    workerId: randomUUID(),
    runJob: createRun({ ...parts, registry, policy: options, timeoutMs: options.timeoutMs }),
  });
  const dispatch = createDispatch({ registry, scope, clock, logger, handlerTimeoutMs });

  const sweeper = createSweeper(store, clock);
  if (options.run) sweeper.start();

  async function allOver(): Promise<void> {
    for (;;) {
      if (options.run) await runner.drain();
      // A lost worker's job is running first and due later. So due jobs are looked for after running ones.
      const isRunning = await isAnyRunning(store, registry.names());
      if (!isRunning && !(options.run && (await isAnyDue(store, registry, clock)))) return;
      // Its process may have been killed, and maybe no other runs jobs now.
      if (isRunning && !options.run) await runner.reclaim();
      await sleep(store.lookEveryMs);
    }
  }

  return {
    registry,
    runner,
    dispatch,
    add: (kind, on, run, given) => registry.add(toHandler(kind, on, run, given)),

    runOnce: async (signal) => {
      scope.refuseInHandler("mirror.jobs.runOnce()");
      await registry.caughtUp();
      const runs = await runner.drain(signal);
      await sweeper.sweep();
      registry.throwRefusal();
      return runs;
    },

    close: async (deadlineMs) => {
      await Promise.all([runner.close(deadlineMs), sweeper.close()]);
      await registry.close();
    },

    replay: async (id) => {
      const added = await addReplay(scope.wrap(store), id);
      runner.wake();
      return added;
    },

    idle: async () => {
      scope.refuseInHandler("mirror.idle()");
      await registry.caughtUp();
      await allOver();
      registry.throwRefusal();
    },
  };
}

/** Whether a job of these handlers is running, here or in another process. */
async function isAnyRunning(store: Store, names: readonly string[]): Promise<boolean> {
  if (names.length === 0) return false;
  const where = [
    { field: "handler", op: "in", value: names },
    { field: "state", op: "=", value: "running" },
  ] as const;
  return (await store.read((reader) => reader.find("jobs", { where, limit: 1 }))).length > 0;
}
