/** The handlers' part of a commit: it adds their jobs, and runs the `inTransaction` handlers. */
import { toIsoTime, type Clock } from "../shared/clock.ts";
import type { Logger } from "../shared/logger.ts";
import type { StoreTransaction } from "../store/store.ts";
import { holdSubscriptions } from "./hold-subscriptions.ts";
import { countFailure } from "./transaction/failures.ts";
import type { HandlerFault } from "./transaction/handler-fault.ts";
import type { HandlerScope } from "./handler-scope.ts";
import { jobsForBehind } from "./missed-news.ts";
import type { Registry } from "./registry.ts";
import { jobsFor, type Subscription } from "./subscription.ts";
import { createTransactionRun, type FreshNews, type Spent } from "./transaction/transaction-run.ts";

export interface DispatchParts {
  readonly registry: Registry;
  readonly scope: HandlerScope;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly handlerTimeoutMs: number;
}

export interface Dispatch {
  /** Reads the subscriptions that this commit adds jobs for. Call it early and await it late: other work runs meanwhile. */
  subscriptionsOf(tx: StoreTransaction): Promise<Subscription[]>;
  /**
   * Adds jobs, and runs `inTransaction` handlers. Call it last in the transaction.
   *
   * @param spent the milliseconds that handlers have used in this transaction
   */
  notify(
    tx: StoreTransaction,
    subscriptions: readonly Subscription[],
    news: FreshNews,
    spent: Spent,
  ): Promise<void>;
  /**
   * Counts a failure. Call it in a new transaction: the delivery's was rolled back. Resolves with whether the delivery can
   * now be committed without the handler.
   */
  countFailure(tx: StoreTransaction, fault: HandlerFault): Promise<boolean>;
}

export function createDispatch(parts: DispatchParts): Dispatch {
  const runInTransaction = createTransactionRun(parts);
  return {
    subscriptionsOf: holdSubscriptions,

    async notify(tx, subscriptions, news, spent) {
      const caughtUp = subscriptions.filter(({ cursor }) => cursor === null);
      const within = caughtUp.filter(({ kind }) => kind === "transaction");
      const after = caughtUp.filter(({ kind }) => kind !== "transaction");
      await tx.jobs.insert([...jobsFor(after, news), ...(await jobsForBehind(tx, subscriptions, news))]);
      if (within.length > 0) await runInTransaction(tx, within, news.deliveries, spent);
    },

    countFailure: (tx, fault) => countFailure(tx, fault, toIsoTime(parts.clock.now())),
  };
}
