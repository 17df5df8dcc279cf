/** The part of a mirror that registers handlers and shows their jobs. */
import type { Handlers } from "../handlers/create-handlers.ts";
import type {
  EventHandler,
  EventName,
  TransactionHandler,
  TransitionHandler,
  TransitionOn,
} from "../handlers/define-handler.ts";
import type { HandlerOptions } from "../handlers/handler.ts";
import type { Filter } from "../handlers/subscription.ts";
import { createJobQueries, type JobQueries } from "../queries/jobs.ts";
import type { Store } from "../store/store.ts";
import type { SubscriptionRow } from "../store/tables/handlers.ts";
import { removeHandler } from "./remove-handler.ts";
import { retryJob, retryJobs, type RetryFilter } from "./retry-jobs.ts";

/** A registered handler. This process may or may not run it. */
export interface RegisteredHandler {
  /** The handler's name. */
  readonly name: string;
  /** Whether it gets events or moves, after the commit or inside the transaction. */
  readonly kind: SubscriptionRow["kind"];
  /** The events or moves that it listens to. */
  readonly filter: Filter;
  /** When it was first registered. ISO 8601. */
  readonly since: string;
}

/** Reads and removes registered handlers. */
export interface HandlerQueries {
  /** Every registered handler, sorted by name. */
  list(): Promise<RegisteredHandler[]>;
  /**
   * Removes a handler, in this process too. It gets no more jobs. Its jobs that are not done are deleted, dead ones too. A
   * job that runs now goes on to its end, and is not tried again. If its name is registered again, it is a new handler. If
   * another process registers it during this call, a job that runs now is the new handler's: it is tried again if it fails.
   *
   * @throws EscrowMirrorError `not-found`
   */
  remove(name: string): Promise<void>;
}

/** Reads, retries and runs jobs. */
export interface JobActions extends JobQueries {
  /**
   * Runs a dead job again: its attempts start again at 1. Or runs a due job now, before the time of its next attempt:
   * the count of attempts goes on.
   *
   * @param id the `id` of an item of `jobs.list({ state: "dead" })` or of `{ state: "due" }`
   * @throws EscrowMirrorError `not-found` if no dead or due job has that id
   */
  retry(id: string): Promise<void>;
  /**
   * Retries all dead jobs that fit the filter, oldest first, as `retry` does. With `state: "due"`, jobs that wait for
   * their next attempt run now. It works in small transactions: if it stops early, call it again.
   *
   * @throws EscrowMirrorError `invalid-argument`; the signal's reason once it is aborted
   */
  retryAll(filter?: RetryFilter): Promise<{
    /** How many jobs run again. */
    readonly retried: number;
  }>;
  /**
   * Runs jobs until none is due. For cron and serverless hosts, with `jobs: { run: false }`.
   *
   * @returns the number of runs
   * @throws the signal's reason once it is aborted; EscrowMirrorError `store-unavailable` if the store fails again and
   *   again, `inside-transaction` inside a handler. After the jobs of all other handlers ran: `invalid-configuration` if a
   *   handler was refused, because its name has another kind
   */
  runOnce(options?: { readonly signal?: AbortSignal | undefined }): Promise<{
    /** How many attempts ran. */
    readonly runs: number;
  }>;
}

/** Registers handlers, and shows their jobs. */
export interface HandlerSurface {
  /**
   * Calls `handler` for each event, after it is committed: at least once, in order of arrival for each contract. A
   * handler that throws is called again later. It never delays or changes the webhook's answer.
   *
   * ```ts
   * mirror.on("contract.disputed", (event) => console.log("disputed:", event.contractId), { name: "log-dispute" });
   * ```
   *
   * @param event an event type, a list of them, `"*"` for every webhook event, `"anomaly"`, or `"job-dead"`
   * @returns a function that stops the handler in this process; its jobs wait for another process. After
   *   that, `idle`, `runOnce` and `health` no longer say that the handler was refused
   * @throws EscrowMirrorError `invalid-argument`
   */
  on<On extends EventName>(
    event: On | readonly On[],
    handler: EventHandler<On>,
    options: HandlerOptions,
  ): () => void;
  /**
   * Calls `handler` each time the present status of a contract or milestone changes, as `on` does for events. Duplicates,
   * late events that change only the history, and rebuilds don't call it.
   *
   * @throws EscrowMirrorError `invalid-argument`
   */
  onTransition(on: TransitionOn, handler: TransitionHandler, options: HandlerOptions): () => void;
  /**
   * Calls `handler` in the delivery's own transaction. Rows that it writes through `trx` or `connection` are committed with
   * the delivery, or not at all. If it throws, the service sends the delivery again. At the third failure the delivery is
   * committed without it, and its job is dead. Register it in every process that receives. If the process that commits does
   * not have it, it runs after the commit in a process that has it, in a transaction of its own.
   *
   * @throws EscrowMirrorError `invalid-argument`
   */
  inTransaction<On extends EventName>(
    event: On | readonly On[],
    handler: TransactionHandler<On>,
    options: HandlerOptions,
  ): () => void;
  /** The registered handlers. */
  readonly handlers: HandlerQueries;
  /** The jobs of all handlers. */
  readonly jobs: JobActions;
  /**
   * Resolves when no job of this process's handlers is due or running. For tests.
   *
   * @throws EscrowMirrorError `store-unavailable` if the store fails again and again; `inside-transaction` inside a
   *   handler. After the jobs of all other handlers ended: `invalid-configuration` if a handler was refused, because its
   *   name has another kind
   */
  idle(): Promise<void>;
}

export function createHandlerSurface(store: Store, handlers: Handlers): HandlerSurface {
  return {
    on: (event, handler, options) => handlers.add("event", event, handler, options),
    onTransition: (on, handler, options) => handlers.add("transition", on, handler, options),
    inTransaction: (event, handler, options) => handlers.add("transaction", event, handler, options),
    idle: () => handlers.idle(),
    handlers: {
      list: async () => {
        const rows = await store.read((reader) => reader.find("subscriptions", { orderBy: ["name"] }));
        return rows.map(({ name, kind, filter, createdAt }) => ({
          name,
          kind,
          filter: filter as Filter,
          since: createdAt,
        }));
      },
      remove: async (name) => {
        // Else it would be written after it is removed.
        await handlers.registry.ensure();
        const here = handlers.registry.get(name);
        await removeHandler(store, name);
        if (here !== undefined) handlers.registry.stop(here);
      },
    },
    jobs: {
      ...createJobQueries(store),
      retry: async (id) => {
        await retryJob(store, id);
        handlers.runner.wake();
      },
      retryAll: async (filter) => {
        const retried = await retryJobs(store, filter);
        handlers.runner.wake();
        return { retried };
      },
      runOnce: async ({ signal } = {}) => ({ runs: await handlers.runOnce(signal) }),
    },
  };
}
