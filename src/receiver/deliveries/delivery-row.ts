/** The rows that a delivery is stored as. */
import { toFactColumns } from "../../store/fact-columns.ts";
import type { NewRow, StoreTransaction } from "../../store/store.ts";
import type { DeliveryRow, PayloadRow } from "../../store/tables/deliveries.ts";
import type { DeliveryArrival } from "../arrival.ts";
import type { Reason } from "../outcome.ts";

/** Inserts deliveries and their payloads. Resolves with whether each was new: its ids and content were not stored yet. */
export async function insertDeliveries(
  tx: StoreTransaction,
  arrivals: readonly DeliveryArrival[],
  toDeliveryRow: (arrival: DeliveryArrival) => NewRow<"deliveries">,
): Promise<boolean[]> {
  const inserted = await tx.insert("deliveries", arrivals.map(toDeliveryRow));
  // A payload with this key is a leftover of a removed delivery.
  await tx.upsert("payloads", arrivals.filter((_, index) => inserted[index] === true).map(toPayload));
  return inserted;
}

function toPayload({ contentKey, receivedAt, headers, body }: DeliveryArrival): PayloadRow {
  return { contentKey, receivedAt, headers, body };
}

/** The row of a new delivery. Only an applied delivery claims its ids. */
export function toRow(arrival: DeliveryArrival): NewRow<"deliveries"> {
  const { reason } = arrival.reading;
  if (reason !== null) return setAside(arrival, reason, null);
  return rowOf(arrival, arrival.webhookId, { outcome: "applied", reason: null, contradicts: null });
}

/** The row of a delivery that is not applied. Its id is its digest, so it takes no other's id. */
export function setAside(
  arrival: DeliveryArrival,
  reason: Reason,
  contradicts: string | null,
): NewRow<"deliveries"> {
  const outcome = reason === "payload-changed" ? "duplicate" : "quarantined";
  return rowOf(arrival, digestIdOf(arrival.digest), { outcome, reason, contradicts });
}

type Judgement = Pick<DeliveryRow, "outcome" | "reason" | "contradicts">;

/** Field by field, because spreading so many fields is slow. */
function rowOf(arrival: DeliveryArrival, id: string, judgement: Judgement): NewRow<"deliveries"> {
  const columns = toFactColumns(arrival.reading.facts, judgement.outcome === "applied");
  return {
    id,
    webhookId: arrival.webhookId,
    payloadId: columns.payloadId,
    contentKey: arrival.contentKey,
    event: columns.event,
    contractId: columns.contractId,
    milestoneId: columns.milestoneId,
    occurredAt: columns.occurredAt,
    outcome: judgement.outcome,
    reason: judgement.reason,
    attempts: 1,
    receivedAt: arrival.receivedAt,
    lastReceivedAt: arrival.receivedAt,
    secretId: arrival.secretId,
    contradicts: judgement.contradicts,
    facts: columns.facts,
  };
}

const digestIdStart = "sha256:";

/** A delivery's id made of its content, if no other id is its own. */
export function digestIdOf(digest: string): string {
  return digestIdStart + digest;
}

/** Whether an id that somebody sent has the form of our own. */
export function isDigestId(id: string): boolean {
  return id.startsWith(digestIdStart);
}
