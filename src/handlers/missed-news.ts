/** The news of a commit for handlers that still read older deliveries: only what they will not find on their way. */
import { groupBy } from "../shared/group-by.ts";
import type { NewJob } from "../store/queue.ts";
import type { StoreTransaction } from "../store/store.ts";
import type { DeliveryRow } from "../store/tables/deliveries.ts";
import { allBut } from "../store/tables.ts";
import type { Anomaly, Transition } from "../queries/shapes.ts";
import { isMoveUnder, moveUnder } from "./older-news.ts";
import { jobsFor, type Move, type News, type Subscription } from "./subscription.ts";
import type { FreshDelivery, FreshNews } from "./transaction/transaction-run.ts";

export async function jobsForBehind(
  tx: StoreTransaction,
  subscriptions: readonly Subscription[],
  news: FreshNews,
): Promise<NewJob[]> {
  const behind = subscriptions.filter(({ cursor }) => cursor !== null);
  if (behind.length === 0) return [];
  const { moves, takenOver, anomalies } = news.shown();
  const fresh = new Set(news.deliveries.filter(({ seq }) => seq === undefined).map(nameOf));
  // Under a new delivery, which lies ahead of every handler. Without this look each commit would ask for each contract.
  const stored = moves.filter((move) => move.webhookId !== null && !fresh.has(nameOf(move)));
  const shown = {
    moves: await storedMoves(tx, stored),
    takenOver: await storedMoves(tx, takenOver),
    anomalies,
  };
  return behind.flatMap((each) => jobsFor([each], missedAt(each.cursor ?? 0, news, shown)));
}

function nameOf({
  contractId,
  webhookId,
}: Pick<Transition | FreshDelivery, "contractId" | "webhookId">): string {
  return JSON.stringify([contractId, webhookId]);
}

/** The news that no delivery after `cursor` tells. */
function missedAt(cursor: number, news: FreshNews, shown: Shown): News {
  const isAhead = ({ seq = Number.POSITIVE_INFINITY }: FreshDelivery): boolean => seq > cursor;
  const idsAhead = new Set(news.deliveries.filter(isAhead).map(({ webhookId }) => webhookId));
  return {
    deliveries: news.deliveries.filter((each) => !isAhead(each)),
    moves: [
      ...news.moves.filter(({ byDelivery }) => !byDelivery),
      ...shown.moves.filter(({ seq }) => seq <= cursor).map(({ move }) => move),
      ...shown.takenOver.filter(({ seq }) => seq > cursor).map(({ move }) => move),
    ],
    anomalies: [...news.anomalies, ...shown.anomalies].filter(
      ({ webhookId }) => webhookId === null || !idsAhead.has(webhookId),
    ),
  };
}

interface Shown {
  readonly moves: readonly StoredMove[];
  readonly takenOver: readonly StoredMove[];
  readonly anomalies: readonly Anomaly[];
}

/** A move, and the `seq` of the delivery for which the history shows it. A handler that reads on finds it there. */
interface StoredMove {
  readonly seq: number;
  readonly move: Move;
}

async function storedMoves(tx: StoreTransaction, shown: readonly Transition[]): Promise<StoredMove[]> {
  const all: StoredMove[] = [];
  for (const [contractId, transitions] of groupBy(shown, (each) => each.contractId)) {
    const rows = groupBy(await deliveriesOf(tx, contractId, transitions), ({ webhookId }) => webhookId);
    for (const transition of transitions)
      for (const row of rows.get(transition.webhookId ?? "") ?? [])
        if (isMoveUnder(row, transition)) all.push({ seq: row.seq, move: moveUnder(row, transition) });
  }
  return all;
}

function deliveriesOf(
  tx: StoreTransaction,
  contractId: string,
  transitions: readonly Transition[],
): Promise<DeliveryRow[]> {
  const where = [
    { field: "contractId", op: "=", value: contractId },
    { field: "webhookId", op: "in", value: transitions.flatMap(({ webhookId }) => webhookId ?? []) },
    { field: "outcome", op: "=", value: "applied" },
  ] as const;
  const without = allBut("deliveries", [
    "contentKey",
    "webhookId",
    "seq",
    "contractId",
    "event",
    "occurredAt",
  ]);
  return tx.find("deliveries", { where, orderBy: ["seq"], without });
}
