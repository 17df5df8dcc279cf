/** Runs the `inTransaction` handlers of a commit, each in a savepoint of the deliveries' own transaction. */
import { toIsoTime, type Clock } from "../../shared/clock.ts";
import type { Logger } from "../../shared/logger.ts";
import { settle, type Result } from "../../shared/result.ts";
import { monotonicMs } from "../../shared/timers.ts";
import type { NewJob } from "../../store/queue.ts";
import type { Anomaly, Transition } from "../../queries/shapes.ts";
import type { StoreTransaction } from "../../store/store.ts";
import type { FailureRow } from "../../store/tables/handlers.ts";
import { isTimeout } from "../call-in-time.ts";
import { callInTransaction } from "./call-in-transaction.ts";
import { insertDeadJob } from "../dead-jobs.ts";
import type { WebhookEvent } from "../event.ts";
import { failuresMax, faultsMax, loadFailures } from "./failures.ts";
import type { Handler } from "../handler.ts";
import { HandlerFault, TimeIsUp } from "./handler-fault.ts";
import type { HandlerScope } from "../handler-scope.ts";
import type { Registry } from "../registry.ts";
import { eventJob, hears, type AppliedDelivery, type News, type Subscription } from "../subscription.ts";
import { describe, isStoreFault } from "../thrown.ts";

/** An applied delivery with the event that handlers are given. */
export interface FreshDelivery extends AppliedDelivery {
  readonly digest: string;
  /** The `seq` of its row, if that was stored before this commit. */
  readonly seq?: number | undefined;
  readonly toEvent: () => WebhookEvent;
  /** Whether its contract's personal data is erased. If so, a handler's error text is not stored. */
  readonly isRedacted?: boolean;
}

/** Moves and anomalies that the state shows now, and did not show before for the same delivery. */
export interface Shown {
  readonly moves: readonly Transition[];
  /** Moves that it showed for a delivery, and shows for an API read now. No delivery tells of them any more. */
  readonly takenOver: readonly Transition[];
  readonly anomalies: readonly Anomaly[];
}

/** The news of a commit. */
export interface FreshNews extends News {
  readonly deliveries: readonly FreshDelivery[];
  /** The rows of the mirror's state that this commit changes. Reading older deliveries would find them. */
  readonly shown: () => Shown;
}

/** The milliseconds that handlers have used in one transaction. */
export interface Spent {
  ms: number;
  /** Whether the transaction has only one delivery. Then each handler gets the whole time. */
  readonly isAlone: boolean;
}

export interface TransactionRunParts {
  readonly registry: Registry;
  readonly scope: HandlerScope;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly handlerTimeoutMs: number;
}

/** One handler's run for one delivery, and how often it has failed before. */
interface Due {
  readonly handler: Handler;
  readonly delivery: FreshDelivery;
  readonly known: FailureRow | undefined;
}

export function createTransactionRun(parts: TransactionRunParts) {
  const { registry, scope, clock, logger, handlerTimeoutMs } = parts;

  /** @throws HandlerFault, TimeIsUp; then the transaction is rolled back */
  async function runAll(
    tx: StoreTransaction,
    subscriptions: readonly Subscription[],
    deliveries: readonly FreshDelivery[],
    spent: Spent,
  ): Promise<void> {
    const elsewhere: NewJob[] = [];
    const failuresOf = await loadFailures(tx, deliveries);
    for (const delivery of deliveries)
      for (const { name, filter } of subscriptions) {
        if (!("events" in filter) || !hears(filter, delivery)) continue;
        const handler = registry.get(name);
        if (handler === undefined) elsewhere.push(eventJob(name, delivery));
        else await runOne(tx, { handler, delivery, known: failuresOf(delivery.digest, name) }, spent);
      }
    await tx.jobs.insert(elsewhere);
  }

  async function runOne(tx: StoreTransaction, due: Due, spent: Spent): Promise<void> {
    const { handler, delivery, known } = due;
    if (known !== undefined && known.faults >= faultsMax) return giveUp(tx, due, known);
    const hasAllTime = spent.isAlone || spent.ms === 0;
    const done = await call(tx, due, spent);
    if (done.ok) return;
    const { error } = done;
    if (isTimeout(error) && !hasAllTime) throw new TimeIsUp();
    const failures = (known?.failures ?? 0) + 1;
    if (isStoreFault(error) || failures < failuresMax) throw new HandlerFault(delivery, handler.name, error);
    await giveUp(tx, due, { failures, lastError: describe(error) });
  }

  async function call(
    tx: StoreTransaction,
    { handler, delivery }: Due,
    spent: Spent,
  ): Promise<Result<unknown, unknown>> {
    const timeoutMs = spent.isAlone ? handlerTimeoutMs : handlerTimeoutMs - spent.ms;
    if (timeoutMs <= 0) throw new TimeIsUp();
    const started = monotonicMs();
    const idempotencyKey = `${handler.name}:${delivery.contentKey}`;
    const run = { handler, event: delivery.toEvent(), idempotencyKey, timeoutMs };
    const done = await settle(() => tx.savepoint(() => callInTransaction(tx, run, scope, logger)));
    spent.ms += monotonicMs() - started;
    return done;
  }

  /** The delivery is committed without the handler's rows. */
  async function giveUp(
    tx: StoreTransaction,
    { handler: { name }, delivery }: Due,
    { failures, lastError }: Pick<FailureRow, "failures" | "lastError">,
  ): Promise<void> {
    logger.error(
      { step: "notify", handler: name, webhookId: delivery.webhookId },
      "a handler failed again and again inside the delivery's transaction: the delivery is committed without it, and its job is dead",
    );
    await insertDeadJob(tx, eventJob(name, delivery), toIsoTime(clock.now()), {
      attempts: Math.max(1, failures),
      lastError: delivery.isRedacted === true ? null : lastError,
    });
  }

  return runAll;
}
