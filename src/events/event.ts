import type { ParseFlag } from "./flags.ts";

/** The event types of §6.1. */
export const specEventTypes = [
  "contract.created",
  "contract.approved",
  "contract.rejected",
  "contract.cancelled",
  "payment.completed",
  "contract.released",
  "contract.disputed",
  "contract.refunded",
  "refund.full-initiated",
  "refund.full-succeeded",
  "contract.completed",
  "milestone.payment.completed",
  "milestone.released",
  "milestone.disputed",
  "milestone.completed",
  "milestone.refund.full-initiated",
  "milestone.refund.full-succeeded",
  "webhook.test",
] as const;

/** Event types of the service's earlier edition (supplement), still understood. */
const earlierEventTypes = [
  "contract.delivered",
  "contract.received",
  "refund.partial-initiated",
  "refund.partial-succeeded",
] as const;

export type KnownEventType = (typeof specEventTypes)[number] | (typeof earlierEventTypes)[number];

const knownEventTypes: ReadonlySet<string> = new Set([...specEventTypes, ...earlierEventTypes]);

export function isKnownEventType(type: string): type is KnownEventType {
  return knownEventTypes.has(type);
}

/**
 * What one webhook body says, read once: either casing understood, numbers exact, ids and times normalised.
 * It is the fold's input and is stored whole, so it holds all that the fold reads and nothing of how the
 * delivery came (§6.3; design: semantics §5).
 */
export interface EventFacts {
  /** The event type as sent (§6.1). */
  readonly event: string;
  /** `id` of the payload: signed, unlike the header. */
  readonly payloadId: string | null;
  /** External contract id. `""` only for `webhook.test`, which may name none. */
  readonly contractId: string;
  /** `data.milestoneId`, else `data.metadata.milestoneId`; a number as its digits. */
  readonly milestoneId: string | null;
  readonly disputeId: string | null;
  readonly transactionId: string | null;
  readonly paymentId: string | null;
  readonly invoiceId: string | null;
  /** `data.reference`, else `data.metadata.reference`. */
  readonly reference: string | null;
  /** As sent: the fold gives it its canonical spelling. */
  readonly status: string | null;
  readonly previousStatus: string | null;
  /** Halalas, exact; `null` when absent, unreadable or out of range. */
  readonly amountMinor: number | null;
  /** `SAR` when absent (§6.3), `XXX` when unreadable. */
  readonly currency: string;
  /** ISO 8601 in UTC with `Z` and the fraction as given; `null` when no time can be read. */
  readonly occurredAt: string | null;
  /** The same instant as fixed-width text that sorts bytewise; `""` sorts before all timed events. */
  readonly orderKey: string;
  readonly metadata: EventMetadata;
  /** What was odd about the values; each becomes an anomaly. */
  readonly flags: readonly ParseFlag[];
}

export interface EventMetadata {
  readonly metadata1?: string;
  readonly metadata2?: string;
  readonly metadata3?: string;
  readonly metadata4?: string;
}
