/** What a commit owes to handlers: it writes their jobs, and runs those that are part of it. */
import { toIsoTime, type Clock } from "../shared/clock.ts";
import { EscrowMirrorError, nameOfError } from "../shared/errors.ts";
import type { Logger } from "../shared/logger.ts";
import { settle } from "../shared/result.ts";
import { monotonicMs } from "../shared/timers.ts";
import type { StoreTransaction } from "../store/store.ts";
import { deadJobs } from "./dead-jobs.ts";
import type { WebhookEvent } from "./event.ts";
import type { Handler } from "./handler.ts";
import { callInTransaction, isTimeout } from "./in-transaction.ts";
import type { Inside } from "./inside.ts";
import { describe, isStoreFault } from "./outcome.ts";
import type { Registry } from "./registry.ts";
import {
  eventJob,
  hears,
  jobsFor,
  type AppliedDelivery,
  type News,
  type Subscription,
} from "./subscription.ts";

/** An applied delivery with the event that handlers are given. */
export interface FreshDelivery extends AppliedDelivery {
  readonly digest: string;
  readonly toEvent: () => WebhookEvent;
}

export interface FreshNews extends News {
  readonly deliveries: readonly FreshDelivery[];
}

/** A handler threw inside a delivery's transaction: the delivery is to be sent again. */
export class HandlerFault extends EscrowMirrorError {
  readonly digest: string;
  readonly handler: string;

  constructor(digest: string, handler: string, cause: unknown) {
    const message = `handler ${handler} threw inside the delivery's transaction, which was rolled back (${nameOfError(cause)})`;
    super("handler-failed", message, { cause });
    this.digest = digest;
    this.handler = handler;
  }
}

/** The handlers' time in this commit is used up: the rest of it goes into the next. */
export class TimeIsUp extends Error {
  override readonly name = "TimeIsUp";
}

export interface InCommitParts {
  readonly registry: Registry;
  readonly inside: Inside;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly handlerTimeoutMs: number;
}

/** How often a handler may throw before its delivery is committed without it. */
const failuresMax = 3;

export interface InCommit {
  /** The handlers that hear of this commit. Not waited for: it is asked early, and needed late. */
  subscriptionsOf(tx: StoreTransaction): Promise<Subscription[]>;
  /**
   * Writes jobs, and runs `inTransaction` handlers, after everything else in the transaction.
   *
   * @param spent the milliseconds that handlers have used in this transaction
   */
  tell(
    tx: StoreTransaction,
    subscriptions: readonly Subscription[],
    news: FreshNews,
    spent: Spent,
  ): Promise<void>;
  /** Counts a failure, in a transaction of its own: that of the delivery is gone. */
  countFailure(tx: StoreTransaction, fault: HandlerFault): Promise<void>;
}

/** The milliseconds that handlers have used in one transaction. */
export interface Spent {
  ms: number;
  /** The transaction has one delivery: each handler of it may take its whole time. */
  readonly isAlone: boolean;
}

export function createInCommit(parts: InCommitParts): InCommit {
  const { registry, inside, clock, logger, handlerTimeoutMs } = parts;

  async function runInside(
    tx: StoreTransaction,
    subscriptions: readonly Subscription[],
    deliveries: readonly FreshDelivery[],
    spent: Spent,
  ): Promise<void> {
    const elsewhere: Parameters<typeof eventJob>[] = [];
    for (const delivery of deliveries)
      for (const { name, filter } of subscriptions) {
        if (!("events" in filter) || !hears(filter, delivery)) continue;
        const handler = registry.get(name);
        if (handler === undefined) elsewhere.push([name, delivery]);
        else await runOne(tx, handler, delivery, spent);
      }
    await tx.jobs.insert(elsewhere.map((job) => eventJob(...job)));
  }

  async function runOne(
    tx: StoreTransaction,
    handler: Handler,
    delivery: FreshDelivery,
    spent: Spent,
  ): Promise<void> {
    const timeoutMs = spent.isAlone ? handlerTimeoutMs : handlerTimeoutMs - spent.ms;
    if (timeoutMs <= 0) throw new TimeIsUp();
    const started = monotonicMs();
    const event = delivery.toEvent();
    const idempotencyKey = `${handler.name}:${delivery.contentKey}`;
    const call = { handler, event, idempotencyKey, timeoutMs };
    const done = await settle(() => tx.savepoint(() => callInTransaction(tx, call, inside, logger)));
    const hadAllTime = spent.isAlone || spent.ms === 0;
    spent.ms += monotonicMs() - started;
    if (done.ok) return;
    if (isStoreFault(done.error)) throw done.error as Error;
    if (isTimeout(done.error) && !hadAllTime) throw new TimeIsUp();
    await giveUpOrThrow(tx, handler, delivery, done.error);
  }

  async function giveUpOrThrow(
    tx: StoreTransaction,
    { name }: Handler,
    delivery: FreshDelivery,
    error: unknown,
  ): Promise<void> {
    const known = await tx.lookup("failures", "digest", [delivery.digest]);
    const failures = known.find(({ handler }) => handler === name)?.failures ?? 0;
    if (failures + 1 < failuresMax) throw new HandlerFault(delivery.digest, name, error);
    logger.error(
      { step: "notify", handler: name, webhookId: delivery.webhookId },
      "a handler threw three times inside the delivery's transaction: committed without it, its job is dead",
    );
    await insertDead(tx, name, delivery, error);
  }

  async function insertDead(
    tx: StoreTransaction,
    name: string,
    delivery: FreshDelivery,
    error: unknown,
  ): Promise<void> {
    const now = toIsoTime(clock.now());
    const job = eventJob(name, delivery);
    await tx.insert("jobs", [
      {
        ...job,
        state: "dead",
        attempts: failuresMax,
        nextAttemptAt: now,
        workerId: null,
        lost: false,
        lastError: describe(error),
        createdAt: now,
        finishedAt: now,
      },
    ]);
    const where = [
      { field: "handler", op: "=", value: name },
      { field: "jobKey", op: "=", value: job.jobKey },
    ] as const;
    const rows = await tx.find("jobs", { where });
    await deadJobs(
      tx,
      rows.map(({ seq }) => seq),
    );
  }

  return {
    async subscriptionsOf(tx) {
      const locked = tx.jobs.lockSubscriptions("shared");
      const rows = await tx.find("subscriptions");
      await locked;
      return rows.filter(({ cursor }) => cursor === null) as Subscription[];
    },

    async tell(tx, subscriptions, news, spent) {
      const within = subscriptions.filter(({ kind }) => kind === "transaction");
      const after = subscriptions.filter(({ kind }) => kind !== "transaction");
      await tx.jobs.insert(jobsFor(after, news));
      if (within.length > 0) await runInside(tx, within, news.deliveries, spent);
    },

    async countFailure(tx, { digest, handler, cause }) {
      const known = await tx.lookup("failures", "digest", [digest]);
      const failures = (known.find((row) => row.handler === handler)?.failures ?? 0) + 1;
      const changedAt = toIsoTime(clock.now());
      await tx.upsert("failures", [{ digest, handler, failures, lastError: describe(cause), changedAt }]);
    },
  };
}

export function isHandlerFault(error: unknown): error is HandlerFault {
  return error instanceof HandlerFault;
}

export function isTimeUp(error: unknown): error is TimeIsUp {
  return error instanceof TimeIsUp;
}
