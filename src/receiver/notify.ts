/** The step *notify*, the part that commits with the delivery: it adds jobs for handlers, and runs `inTransaction` handlers. */
import type { FoldOptions } from "../domain/fold.ts";
import type { FoldInput } from "../domain/input.ts";
import type { AnomalyRecord } from "../domain/records.ts";
import { parseRaw } from "../events/raw.ts";
import { toWebhookEvent } from "../handlers/event.ts";
import type { Handlers } from "../handlers/create-handlers.ts";
import type { HandlerFault } from "../handlers/transaction/handler-fault.ts";
import type { Dispatch } from "../handlers/dispatch.ts";
import type { FreshDelivery, FreshNews, Spent } from "../handlers/transaction/transaction-run.ts";
import type { HandlerScope } from "../handlers/handler-scope.ts";
import type { EventFacts } from "../events/event.ts";
import { toAnomaly } from "../queries/deliveries.ts";
import type { Anomaly } from "../queries/shapes.ts";
import type { Commits } from "../queries/wait-for.ts";
import type { NewRow, StoreTransaction } from "../store/store.ts";
import type { Committed, ContractChange, DeliveryArrival } from "./arrival.ts";
import { digestIn } from "./deliveries/content-key.ts";
import { movesIn, newlyShown, takenOver } from "./contracts/moves.ts";

/** The news of a transaction, once everything else in it is written. */
export interface CommitNews {
  readonly deliveries: readonly FreshDelivery[];
  readonly inputs: readonly FoldInput[];
  readonly changes: readonly ContractChange[];
}

export interface Notifying {
  /** The same transaction, for everything else that is written in it. */
  readonly tx: StoreTransaction;
  /** Whether there is any handler. */
  isHeard(): Promise<boolean>;
  /** The last step before the commit. */
  notify(news: CommitNews, spent: Spent): Promise<void>;
}

/** The handlers as the receiver sees them. */
export interface Listeners {
  /** Resolves when the next commit reaches every handler that is registered by now. Rejects with `store-unavailable`. */
  ready(): Promise<void>;
  /** Call it first in a transaction: it starts to read the subscriptions, and notes the anomalies that are inserted. */
  begin(tx: StoreTransaction): Notifying;
  /**
   * Counts a failure of a handler inside a delivery's transaction. Call it in a new transaction. Resolves with whether the
   * delivery can now be committed without the handler.
   */
  countFailure(tx: StoreTransaction, fault: HandlerFault): Promise<boolean>;
  /** Call it after each commit: jobs may be due, and a `waitFor` may wait for the change. */
  committed(): void;
  /** Whether the caller runs inside a handler's transaction: it would deadlock. */
  isInTransaction(): boolean;
}

export function createListeners(
  { registry, runner, dispatch }: Handlers,
  scope: HandlerScope,
  folding: FoldOptions,
  commits: Commits,
): Listeners {
  return {
    ready: () => registry.ensure(),
    begin: (tx) => beginNotifying(tx, dispatch, folding),
    countFailure: (tx, fault) => dispatch.countFailure(tx, fault),
    committed: () => {
      runner.wake();
      commits.announce();
    },
    isInTransaction: () => scope.isInTransaction(),
  };
}

/** For a commit that no handler hears of. */
export const noListeners: Listeners = {
  ready: async () => {},
  begin: (tx) => ({ tx, isHeard: async () => false, notify: async () => {} }),
  countFailure: async () => false,
  committed: () => {},
  isInTransaction: () => false,
};

function beginNotifying(tx: StoreTransaction, handlers: Dispatch, folding: FoldOptions): Notifying {
  const asking = handlers.subscriptionsOf(tx);
  // Whoever awaits it gets the rejection.
  asking.catch(() => undefined);
  const noted: NewRow<"anomalies">[] = [];
  return {
    tx: noting(tx, noted),
    isHeard: async () => (await asking).length > 0,
    notify: async ({ deliveries, inputs, changes }, spent) => {
      const subscriptions = await asking;
      if (subscriptions.length === 0) return;
      const keys = new Map(deliveries.map(({ digest, contentKey }) => [digest, contentKey]));
      const needsMoves = subscriptions.some(({ kind }) => kind === "transition");
      const news: FreshNews = {
        deliveries,
        moves: needsMoves ? await movesIn(tx, inputs, changes, folding, keys) : [],
        shown: () => ({
          moves: changes.flatMap(newlyShown),
          takenOver: changes.flatMap(takenOver),
          anomalies: changes.flatMap((each) => newAnomalies(each, nameWithDelivery)).map(shaped),
        }),
        anomalies: [...noted, ...changes.flatMap((each) => newAnomalies(each, nameOf))].map(shaped),
      };
      await handlers.notify(tx, subscriptions, news, spent);
    },
  };
}

/** The applied deliveries of a commit. */
export function freshOf(committed: readonly Committed[]): FreshDelivery[] {
  return committed.flatMap(({ arrival, outcome, seq }) => {
    if (outcome !== "applied" || arrival.kind !== "delivery" || arrival.reading.facts === null) return [];
    return [{ ...toFresh(arrival, arrival, arrival.reading.facts), seq }];
  });
}

export function toFresh(
  { contentKey, webhookId }: Pick<DeliveryArrival, "contentKey" | "webhookId">,
  payload: Pick<DeliveryArrival, "body" | "headers"> | undefined,
  facts: EventFacts,
): FreshDelivery {
  const readRaw = (): unknown =>
    payload === undefined ? null : parseRaw(payload.body, payload.headers["content-encoding"]);
  const toEvent = () => toWebhookEvent(facts, webhookId, readRaw);
  const { event, contractId } = facts;
  return {
    contentKey,
    digest: digestIn(contentKey),
    webhookId,
    event,
    contractId: contractId || null,
    toEvent,
  };
}

/** The same transaction, which also notes the anomalies that are inserted. Those of the fold are upserted: see `newAnomalies`. */
function noting(tx: StoreTransaction, noted: NewRow<"anomalies">[]): StoreTransaction {
  const insert: StoreTransaction["insert"] = (table, rows) => {
    if (table === "anomalies") noted.push(...(rows as unknown as NewRow<"anomalies">[]));
    return tx.insert(table, rows);
  };
  return Object.assign(Object.create(tx) as StoreTransaction, { insert });
}

/** The anomalies that a commit added. After a refold the older ones are there too, maybe at other positions. */
function newAnomalies(
  { before, after }: ContractChange,
  nameIn: (anomaly: AnomalyRecord) => string,
): AnomalyRecord[] {
  const known = new Set(before.anomalies.map(nameIn));
  return after.anomalies.filter((each) => !known.has(nameIn(each)));
}

function shaped(row: NewRow<"anomalies"> | AnomalyRecord): Anomaly {
  return toAnomaly({ ...row, seq: 0 });
}

function nameOf({ kind, detail }: AnomalyRecord): string {
  return JSON.stringify([kind, detail]);
}

/** A refold can find an anomaly at another delivery than before. */
function nameWithDelivery({ kind, detail, webhookId }: AnomalyRecord): string {
  return JSON.stringify([kind, detail, webhookId]);
}
