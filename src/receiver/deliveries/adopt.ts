import type { EventFacts } from "../../events/event.ts";
import { toFactColumns } from "../../store/fact-columns.ts";
import type { StoreTransaction } from "../../store/store.ts";
import { heavyFields, type DeliveryRow } from "../../store/tables/deliveries.ts";

/** The subject of an event is its type, contract and milestone: what an unsigned header can't change (semantics §4). */
export function isSameSubject(row: DeliveryRow, facts: EventFacts | null): boolean {
  return (
    facts !== null &&
    row.event === facts.event &&
    row.contractId === (facts.contractId || null) &&
    row.milestoneId === facts.milestoneId
  );
}

/** The deliveries that have claimed the webhook id or the payload id. Locked, and without the heavy fields. */
export async function findClaimants(tx: StoreTransaction, webhookId: string, payloadId: string | null) {
  const [byId] = await tx.lock("deliveries", "id", [webhookId], heavyFields);
  const [byPayloadId] =
    payloadId === null ? [] : await tx.lock("deliveries", "payloadId", [payloadId], heavyFields);
  return { byId, byPayloadId };
}

/**
 * Applies a delivery that was set aside. It claims those of its ids that no other has claimed. If its event is applied
 * already, it changes nothing and resolves with the applied delivery.
 */
export async function adopt(
  tx: StoreTransaction,
  row: DeliveryRow,
  facts: EventFacts,
): Promise<DeliveryRow | undefined> {
  const { byId, byPayloadId } = await findClaimants(tx, row.webhookId, facts.payloadId);
  if (byPayloadId !== undefined && isSameSubject(byPayloadId, facts)) return byPayloadId;
  // Two different signed payload ids are two events, even if the unsigned header is the same.
  const isTold = byId?.payloadId != null && facts.payloadId !== null;
  if (byId !== undefined && byId.contentKey !== row.contentKey && !isTold && isSameSubject(byId, facts))
    return byId;
  const adopted = {
    contentKey: row.contentKey,
    id: byId === undefined ? row.webhookId : row.id,
    webhookId: row.webhookId,
    ...toFactColumns(facts, byPayloadId === undefined),
    outcome: "applied" as const,
    reason: null,
  };
  await tx.updateEach("deliveries", "contentKey", [adopted]);
  return undefined;
}
