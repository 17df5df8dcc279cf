import type { StoreReader, StoreTransaction } from "./store.ts";
import { allBut } from "./tables.ts";
import type { DeliveryRow, PayloadRow } from "./tables/deliveries.ts";

/** A payload stays, however old, while its delivery has one of these outcomes, or a job is owed for it (`openStates`). */
export const keptOutcomes = ["quarantined"] as const satisfies readonly DeliveryRow["outcome"][];

/** The raw bytes of a delivery; `undefined` once they are pruned. */
export async function payloadOf(
  reader: StoreReader,
  { contentKey, receivedAt }: Pick<DeliveryRow, "contentKey" | "receivedAt">,
): Promise<PayloadRow | undefined> {
  const where = [
    { field: "contentKey", op: "=", value: contentKey },
    { field: "receivedAt", op: "=", value: receivedAt },
  ] as const;
  const [payload] = await reader.find("payloads", { where });
  return payload;
}

/**
 * No body of these deliveries is deleted before the transaction ends. Call it before you add jobs for them. `prune` locks the
 * same deliveries before it looks for jobs: it waits, and then finds the new ones. The second statement reads payloads, because
 * Postgres can't drop one of their partitions before such a reader ends.
 */
export async function holdPayloads(tx: StoreTransaction, contentKeys: readonly string[]): Promise<void> {
  await tx.lock("deliveries", "contentKey", contentKeys, allBut("deliveries", ["contentKey"]));
  await tx.lookup("payloads", "contentKey", contentKeys, allBut("payloads", ["contentKey"]));
}
