/** The copies of stored deliveries: how many arrived, and when the first and the last did. */
import { compareText } from "../../domain/order.ts";
import type { StoreTransaction } from "../../store/store.ts";
import { allBut } from "../../store/tables.ts";
import type { DeliveryRow } from "../../store/tables/deliveries.ts";
import type { DeliveryArrival } from "../arrival.ts";

/** A stored delivery, and the deliveries of this batch that repeat it. */
export interface Copies {
  readonly row: DeliveryRow;
  readonly arrivals: readonly DeliveryArrival[];
}

/** Counts the copies, and stores the times of the first and of the last. */
export async function countAttempts(tx: StoreTransaction, known: readonly Copies[]): Promise<void> {
  const counted = known.map(({ row, arrivals }) => {
    const times = [row.lastReceivedAt, ...arrivals.map(({ receivedAt }) => receivedAt)];
    const lastReceivedAt = times.reduce((last, each) => (compareText(each, last) > 0 ? each : last));
    const receivedAt = firstReceivedAt({ row, arrivals });
    return { id: row.id, attempts: row.attempts + arrivals.length, receivedAt, lastReceivedAt };
  });
  await tx.updateEach("deliveries", "id", counted);
  await retime(tx, known.filter(isSooner));
}

/** Moves the payloads to the new time of arrival, except those that were pruned. */
async function retime(tx: StoreTransaction, sooner: readonly Copies[]): Promise<void> {
  const keys = sooner.map(({ row }) => row.contentKey);
  const payloads = await tx.lookup("payloads", "contentKey", keys, allBut("payloads", ["contentKey"]));
  const left = new Set(payloads.map(({ contentKey }) => contentKey));
  const rows = sooner.filter(({ row }) => left.has(row.contentKey)).map(toPayloadTime);
  await tx.updateEach("payloads", "contentKey", rows);
}

/** Whether one of the copies arrived before the stored one. Commits may come in another order than arrivals. */
export function isSooner(copies: Copies): boolean {
  return firstReceivedAt(copies) !== copies.row.receivedAt;
}

/** Payloads are found by their time of arrival. */
function toPayloadTime(copies: Copies) {
  return { contentKey: copies.row.contentKey, receivedAt: firstReceivedAt(copies) };
}

/** When the first copy arrived. Other content with the same ids is no copy. */
export function firstReceivedAt({ row, arrivals }: Copies): string {
  const copies = arrivals.filter(({ contentKey }) => contentKey === row.contentKey);
  return copies.reduce((first, each) => (each.receivedAt < first ? each.receivedAt : first), row.receivedAt);
}
