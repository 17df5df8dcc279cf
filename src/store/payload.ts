import type { StoreReader } from "./store.ts";
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
