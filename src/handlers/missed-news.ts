/** The news of a commit for handlers that still read older deliveries: only what they will not find on their way. */
import { groupBy } from "../shared/group-by.ts";
import type { NewJob } from "../store/queue.ts";
import type { StoreTransaction } from "../store/store.ts";
import { allBut } from "../store/tables.ts";
import { jobsFor, type Move, type News, type Subscription } from "./subscription.ts";
import type { FreshDelivery, FreshNews } from "./transaction/transaction-run.ts";

/** The `seq` of the delivery under which the history has a move; -1 where no delivery stands there. */
type PlaceOf = (move: Move) => number;

export async function jobsForBehind(
  tx: StoreTransaction,
  subscriptions: readonly Subscription[],
  news: FreshNews,
): Promise<NewJob[]> {
  const behind = subscriptions.filter(({ cursor }) => cursor !== null);
  if (behind.length === 0) return [];
  const placeOf = await placesOf(tx, news);
  return behind.flatMap((each) => jobsFor([each], missedAt(each.cursor ?? 0, news, placeOf)));
}

/** The news that no delivery after `cursor` tells. */
function missedAt(cursor: number, { deliveries, moves, anomalies }: FreshNews, placeOf: PlaceOf): News {
  const isAhead = (each: FreshDelivery): boolean => seqOf(each) > cursor;
  const idsAhead = new Set(deliveries.filter(isAhead).map(({ webhookId }) => webhookId));
  return {
    deliveries: deliveries.filter((each) => !isAhead(each)),
    moves: moves.filter((move) => placeOf(move) <= cursor),
    anomalies: anomalies.filter(({ webhookId }) => webhookId === null || !idsAhead.has(webhookId)),
  };
}

/** A new delivery comes after all that are stored. */
function seqOf({ seq }: FreshDelivery): number {
  return seq ?? Number.POSITIVE_INFINITY;
}

/** A late delivery can make the step of another, stored one the present move. */
async function placesOf(tx: StoreTransaction, { deliveries, moves }: FreshNews): Promise<PlaceOf> {
  const places = new Map(deliveries.map((each) => [nameOf(each.contractId, each.webhookId), seqOf(each)]));
  const others = moves.filter((move) => move.recordedBy !== null && !places.has(nameOfMove(move)));
  for (const [contractId, its] of groupBy(others, ({ transition }) => transition.contractId)) {
    const rows = await tx.find("deliveries", {
      where: [
        { field: "contractId", op: "=", value: contractId },
        { field: "webhookId", op: "in", value: its.flatMap(({ recordedBy }) => recordedBy ?? []) },
        { field: "outcome", op: "=", value: "applied" },
      ],
      orderBy: ["seq"],
      without: allBut("deliveries", ["contractId", "webhookId", "seq"]),
    });
    for (const row of rows) places.set(nameOf(row.contractId, row.webhookId), row.seq);
  }
  return (move) => places.get(nameOfMove(move)) ?? -1;
}

function nameOfMove({ recordedBy, transition }: Move): string {
  return nameOf(transition.contractId, recordedBy);
}

function nameOf(contractId: string | null, webhookId: string | null): string {
  return JSON.stringify([contractId, webhookId]);
}
