/** The handlers of one mirror: what it offers to register them, and what its receiver and its queries need of them. */
import { randomUUID } from "node:crypto";
import { EscrowMirrorError } from "../shared/errors.ts";
import type { Clock } from "../shared/clock.ts";
import type { Logger } from "../shared/logger.ts";
import { sleep } from "../shared/timers.ts";
import { holdPayloads } from "../store/payload.ts";
import type { Store } from "../store/store.ts";
import type { Recorder } from "../telemetry/recorder.ts";
import { checkText } from "../queries/arguments.ts";
import type { DefinedHandler } from "./define-handler.ts";
import {
  checkFunction,
  checkName,
  toEventFilter,
  toSince,
  toTransitionFilter,
  type Handler,
  type HandlerOptions,
} from "./handler.ts";
import { createSweeper } from "./done-jobs.ts";
import { createInCommit, type InCommit } from "./in-commit.ts";
import type { Inside } from "./inside.ts";
import { createRegistry, type Registry } from "./registry.ts";
import { isAnyDue } from "./runner/lookout.ts";
import { createRun } from "./runner/run.ts";
import { createRunner, type Runner, type RunnerOptions } from "./runner/runner.ts";
import { eventJob, hears, type Filter } from "./subscription.ts";

export interface HandlersParts {
  /** Inside a handler's transaction, its reads go through that transaction. */
  readonly store: Store;
  readonly inside: Inside;
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
  readonly inCommit: InCommit;
  readonly runner: Runner;
  add(kind: Handler["kind"], on: unknown, run: unknown, options: HandlerOptions): () => void;
  define(handlers: readonly DefinedHandler[]): void;
  replay(id: string): Promise<number>;
  idle(): Promise<void>;
  /** Runs what is due, and removes what is long done. Gives the number of runs. */
  runOnce(signal: AbortSignal | undefined): Promise<number>;
  /** Starts no more jobs. Running ones are told to stop, and are given back after `deadlineMs`. */
  close(deadlineMs: number): Promise<void>;
}

export function createHandlers(parts: HandlersParts): Handlers {
  const { store, inside, clock, logger, options, handlerTimeoutMs, startAt } = parts;
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
  const inCommit = createInCommit({ registry, inside, clock, logger, handlerTimeoutMs });

  const sweeper = createSweeper(store, clock);
  if (options.run) sweeper.start();

  function add(kind: Handler["kind"], on: unknown, run: unknown, given: HandlerOptions): () => void {
    const name = checkName((given as Partial<HandlerOptions> | undefined)?.name);
    const filter = kind === "transition" ? toTransitionFilter(on, name) : toEventFilter(on, name);
    return registry.add({
      name,
      kind,
      filter,
      since: toSince(given.since, name),
      run: checkFunction(run, name),
    });
  }

  return {
    registry,
    runner,
    inCommit,
    add,
    define: (handlers) => {
      for (const { kind, on, run, ...given } of handlers) add(kind, on, run, given);
    },

    runOnce: async (signal) => {
      inside.refuseInHandler("mirror.jobs.runOnce()");
      await registry.caughtUp();
      const runs = await runner.drain(signal);
      await sweeper.sweep();
      return runs;
    },

    close: async (deadlineMs) => {
      await Promise.all([runner.close(deadlineMs), sweeper.close()]);
      await registry.close();
    },

    replay: async (id) => {
      checkText(id);
      const added = await store.transaction(async (tx) => {
        const [row] = await tx.find("deliveries", { where: [{ field: "id", op: "=", value: id }] });
        if (row === undefined || row.outcome !== "applied" || row.event === null) throw notApplied(id);
        const { contentKey, contractId, event } = row;
        await holdPayloads(tx, [contentKey]);
        const delivery = { contentKey, webhookId: row.webhookId, contractId, event };
        const all = await tx.find("subscriptions", { orderBy: ["name"] });
        const hearing = all.filter(
          ({ filter }) => "events" in (filter as Filter) && hears(filter as never, delivery),
        );
        const again = ` again ${randomUUID()}`;
        return tx.jobs.insert(hearing.map(({ name }) => eventJob(name, delivery, again)));
      });
      runner.wake();
      return added.length;
    },

    idle: async () => {
      inside.refuseInHandler("mirror.idle()");
      await registry.caughtUp();
      for (;;) {
        if (options.run) await runner.drain();
        // A lost worker's job is running at one look and due at the next: due is looked for again, after running.
        const isOwing = await isOwed(store, registry.names());
        if (!isOwing && !(options.run && (await isAnyDue(store, registry, clock)))) return;
        await sleep(store.lookEveryMs);
      }
    },
  };
}

/** Whether a job of these handlers is running, here or in another process. */
async function isOwed(store: Store, names: readonly string[]): Promise<boolean> {
  if (names.length === 0) return false;
  const where = [
    { field: "handler", op: "in", value: names },
    { field: "state", op: "=", value: "running" },
  ] as const;
  return (await store.read((reader) => reader.find("jobs", { where, limit: 1 }))).length > 0;
}

function notApplied(id: string): EscrowMirrorError {
  return new EscrowMirrorError(
    "not-found",
    `no applied delivery has the id ${id}: pass the id, not the webhookId, of an item of mirror.deliveries.list()`,
  );
}
