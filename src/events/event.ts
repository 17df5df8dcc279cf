import type { ParseFlag } from "./flags.ts";

/** The event types of the service's present edition. */
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

/** Further event types of the service's earlier edition. */
const earlierEventTypes = [
  "contract.delivered",
  "contract.received",
  "refund.partial-initiated",
  "refund.partial-succeeded",
] as const;

/** The event types that this release knows. */
export type KnownEventType = (typeof specEventTypes)[number] | (typeof earlierEventTypes)[number];

const knownEventTypes: ReadonlySet<string> = new Set([...specEventTypes, ...earlierEventTypes]);

export function isKnownEventType(type: string): type is KnownEventType {
  return knownEventTypes.has(type);
}

/**
 * The facts of one webhook body: names in one casing, exact numbers, ids and times in one form. It holds all that a
 * rebuild needs, but nothing about the delivery itself.
 */
export interface EventFacts extends EventFields {
  /** The event type as sent. */
  readonly event: string;
  /** The time of the event as text that sorts exactly. `""` sorts before all other events. */
  readonly orderKey: string;
  /** Oddities of the values. Each becomes an anomaly. */
  readonly flags: readonly ParseFlag[];
}

/** The fields that every event has. */
export interface EventFields {
  /** The payload's own `id`. The signature covers it, unlike the header. */
  readonly payloadId: string | null;
  /** The contract's external id. Empty only for a `webhook.test` that names none. */
  readonly contractId: string;
  /** The milestone's id, as text; `null` if the event is about the whole contract. */
  readonly milestoneId: string | null;
  /** The dispute's id. */
  readonly disputeId: string | null;
  /** The payment's id for payment events, the refund's id for refund events. */
  readonly transactionId: string | null;
  /** The payment's id. */
  readonly paymentId: string | null;
  /** The invoice's id. */
  readonly invoiceId: string | null;
  /** The reference that the contract was created with. */
  readonly reference: string | null;
  /** The status as sent. */
  readonly status: string | null;
  /** The status before, as sent. */
  readonly previousStatus: string | null;
  /** Halalas, exact. `null` if absent, unreadable or out of range. */
  readonly amountMinor: number | null;
  /** The currency's code. `SAR` if absent. If unreadable, `XXX`: ISO 4217's code for no currency. */
  readonly currency: string;
  /** When it happened: ISO 8601 in UTC with `Z`, the fraction as given. `null` if no time can be read. */
  readonly occurredAt: string | null;
  /** The app's own texts. */
  readonly metadata: EventMetadata;
}

/** The app's own texts, given when the contract was created. */
export interface EventMetadata {
  /** The first. */
  readonly metadata1?: string;
  /** The second. */
  readonly metadata2?: string;
  /** The third. */
  readonly metadata3?: string;
  /** The fourth. */
  readonly metadata4?: string;
}
