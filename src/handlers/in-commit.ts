/** The handlers' part of a commit: it adds their jobs, and runs the `inTransaction` handlers. */
import { toIsoTime, type Clock } from "../shared/clock.ts";
import type { Logger } from "../shared/logger.ts";
import { settle } from "../shared/result.ts";
import { monotonicMs } from "../shared/timers.ts";
import type { StoreTransaction } from "../store/store.ts";
import type { FailureRow, JobRow } from "../store/tables/handlers.ts";
import { isTimeout } from "./call-in-time.ts";
import { notifyOfDead } from "./dead-jobs.ts";
import type { WebhookEvent } from "./event.ts";
import type { Handler } from "./handler.ts";
import { HandlerFault, TimeIsUp } from "./handler-fault.ts";
import { callInTransaction } from "./in-transaction.ts";
import type { Inside } from "./inside.ts";
import type { Registry } from "./registry.ts";
import {
  eventJob,
  hears,
  jobsFor,
  type AppliedDelivery,
  type News,
  type Subscription,
} from "./subscription.ts";
import { describe, isStoreFault } from "./thrown.ts";

/** An applied delivery with the event that handlers are given. */
export interface FreshDelivery extends AppliedDelivery {
  readonly digest: string;
  readonly toEvent: () => WebhookEvent;
  /** Whether its contract's personal data is erased. If so, a handler's error text is not stored. */
  readonly isRedacted?: boolean;
}

export interface FreshNews extends News {
  readonly deliveries: readonly FreshDelivery[];
}

export interface InCommitParts {
  readonly registry: Registry;
  readonly inside: Inside;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly handlerTimeoutMs: number;
}

/** At this many failures of a handler, the delivery is committed without its rows. */
const failuresMax = 3;
/** The same for failures of the store while the handler runs. The service sends a delivery six times. */
const faultsMax = 5;

export interface InCommit {
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

/** The milliseconds that handlers have used in one transaction. */
export interface Spent {
  ms: number;
  /** Whether the transaction has only one delivery. Then each handler gets the whole time. */
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
    const failures = await failuresOf(tx, deliveries);
    for (const delivery of deliveries)
      for (const { name, filter } of subscriptions) {
        if (!("events" in filter) || !hears(filter, delivery)) continue;
        const handler = registry.get(name);
        const known = failures.get(`${delivery.digest} ${name}`);
        if (handler === undefined) elsewhere.push([name, delivery]);
        else if (known !== undefined && known.faults >= faultsMax) await giveUp(tx, handler, delivery, known);
        else await runOne(tx, handler, delivery, { spent, known });
      }
    await tx.jobs.insert(elsewhere.map((job) => eventJob(...job)));
  }

  async function runOne(
    tx: StoreTransaction,
    handler: Handler,
    delivery: FreshDelivery,
    { spent, known }: { readonly spent: Spent; readonly known: FailureRow | undefined },
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
    if (isTimeout(done.error) && !hadAllTime) throw new TimeIsUp();
    const failures = (known?.failures ?? 0) + 1;
    if (isStoreFault(done.error) || failures < failuresMax)
      throw new HandlerFault(delivery, handler.name, done.error);
    await giveUp(tx, handler, delivery, { failures, lastError: describe(done.error) });
  }

  async function giveUp(
    tx: StoreTransaction,
    { name }: Handler,
    delivery: FreshDelivery,
    { failures, lastError }: Pick<FailureRow, "failures" | "lastError">,
  ): Promise<void> {
    logger.error(
      { step: "notify", handler: name, webhookId: delivery.webhookId },
      "a handler failed again and again inside the delivery's transaction: the delivery is committed without it, and its job is dead",
    );
    await insertDead(tx, name, delivery, { attempts: Math.max(1, failures), lastError });
  }

  async function insertDead(
    tx: StoreTransaction,
    name: string,
    delivery: FreshDelivery,
    last: Pick<JobRow, "attempts" | "lastError">,
  ): Promise<void> {
    const now = toIsoTime(clock.now());
    const job = eventJob(name, delivery);
    await tx.insert("jobs", [
      {
        ...job,
        ...last,
        lastError: delivery.isRedacted === true ? null : last.lastError,
        state: "dead",
        nextAttemptAt: now,
        workerId: null,
        lost: false,
        createdAt: now,
        finishedAt: now,
      },
    ]);
    const where = [
      { field: "handler", op: "=", value: name },
      { field: "jobKey", op: "=", value: job.jobKey },
    ] as const;
    await notifyOfDead(tx, await tx.find("jobs", { where }));
  }

  return {
    async subscriptionsOf(tx) {
      const locked = tx.jobs.lockSubscriptions("shared");
      const rows = await tx.find("subscriptions");
      await locked;
      return rows.filter(({ cursor }) => cursor === null) as Subscription[];
    },

    async notify(tx, subscriptions, news, spent) {
      const within = subscriptions.filter(({ kind }) => kind === "transaction");
      const after = subscriptions.filter(({ kind }) => kind !== "transaction");
      await tx.jobs.insert(jobsFor(after, news));
      if (within.length > 0) await runInside(tx, within, news.deliveries, spent);
    },

    async countFailure(tx, { digest, handler, contractId, cause, isOfStore }) {
      const known = (await tx.lookup("failures", "digest", [digest])).find((row) => row.handler === handler);
      const failures = (known?.failures ?? 0) + (isOfStore ? 0 : 1);
      const faults = (known?.faults ?? 0) + (isOfStore ? 1 : 0);
      const changedAt = toIsoTime(clock.now());
      const [contract] = contractId === null ? [] : await tx.lockContracts([contractId]);
      const lastError = contract?.redactedAt == null ? describe(cause) : "";
      await tx.upsert("failures", [{ digest, handler, contractId, failures, faults, lastError, changedAt }]);
      return isOfStore && faults >= faultsMax;
    },
  };
}

/** How often handlers have failed at these deliveries, by digest and name. */
async function failuresOf(
  tx: StoreTransaction,
  deliveries: readonly FreshDelivery[],
): Promise<Map<string, FailureRow>> {
  const digests = deliveries.map(({ digest }) => digest);
  const rows = digests.length === 0 ? [] : await tx.lookup("failures", "digest", digests);
  return new Map(rows.map((row) => [`${row.digest} ${row.handler}`, row]));
}
