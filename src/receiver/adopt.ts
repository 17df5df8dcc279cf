import type { EventFacts } from "../events/event.ts";
import { toFactColumns } from "../store/fact-columns.ts";
import type { StoreTransaction } from "../store/store.ts";
import { heavyFields, type DeliveryRow } from "../store/tables.ts";

/** The subject of an event is its type, contract and milestone: what an unsigned header can't change (semantics §4). */
export function isSameSubject(row: DeliveryRow, facts: EventFacts | null): boolean {
  return (
    facts !== null &&
    row.event === facts.event &&
    row.contractId === (facts.contractId || null) &&
    row.milestoneId === facts.milestoneId
  );
}

/**
 * Makes an applied delivery of one that was set aside, with those of its ids that no other has claimed. Nothing is done
 * where its event is applied already: the delivery that did so is given back.
 */
export async function adopt(
  tx: StoreTransaction,
  row: DeliveryRow,
  facts: EventFacts,
): Promise<DeliveryRow | undefined> {
  const [byId] = await tx.claim("deliveries", "id", [row.webhookId], heavyFields);
  const [byPayloadId] =
    facts.payloadId === null ? [] : await tx.claim("deliveries", "payloadId", [facts.payloadId], heavyFields);
  if (byPayloadId !== undefined && isSameSubject(byPayloadId, facts)) return byPayloadId;
  // The header alone says little: of two signed payload ids each is an event of its own.
  const isTold = byId?.payloadId != null && facts.payloadId !== null;
  if (byId !== undefined && byId.digest !== row.digest && !isTold && isSameSubject(byId, facts)) return byId;
  await tx.update("deliveries", "contentKey", row.contentKey, {
    id: byId === undefined ? row.webhookId : row.id,
    webhookId: row.webhookId,
    ...toFactColumns(facts, byPayloadId === undefined),
    outcome: "applied",
  });
  return undefined;
}
