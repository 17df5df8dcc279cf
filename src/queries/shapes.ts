import type { AnomalyKind } from "../domain/anomaly.ts";
import type { RefundRecord, TransitionRecord } from "../domain/records.ts";
import type { ContractStatus, MilestoneStatus } from "../domain/status.ts";
import type { EventMetadata } from "../events/event.ts";
import type { Party } from "../events/snapshot.ts";
import type { DeliveryRow } from "../store/tables/deliveries.ts";
import type { RefundRow } from "../store/tables/contracts.ts";

/**
 * A contract as the mirror knows it. Amounts are halalas. Times are ISO 8601 with `Z`. The fraction is as the service sent it.
 */
export interface MirroredContract {
  /** The service's id of the contract. */
  contractId: string;
  /** The app's own id, given when the contract was created. */
  reference: string | null;
  /** The status. `"unknown"` while only events of its milestones have arrived. */
  status: ContractStatus;
  /** When it got this status. If the service sent no time: when the delivery first arrived. */
  statusSince: string;
  /** The status before. */
  previousStatus: string | null;
  /** From API reads only; else `null`. */
  title: string | null;
  /** From API reads only; else `null`. */
  description: string | null;
  /** From API reads only; else `null`. */
  notes: string | null;
  /** From API reads only; else `null`. */
  businessName: string | null;
  /** `product` or `service`. From API reads only; else `null`. */
  serviceType: string | null;
  /** The base amount, without fees. */
  amountMinor: number | null;
  /** The currency's code: `SAR`. */
  currency: string;
  /** The app's own texts, given when the contract was created. */
  metadata: EventMetadata;
  /** Only an API read brings the parties. */
  buyer: Party | null;
  /** From API reads only; else `null`. */
  seller: Party | null;
  /** Its milestones, by id. */
  milestones: MirroredMilestone[];
  /** Its refunds. */
  refunds: MirroredRefund[];
  /** When the service created it. ISO 8601; `null` while it is unknown. */
  createdAt: string | null;
  /**
   * The newest time that the service sent. If it sent none: when the delivery that last moved the contract first arrived.
   */
  updatedAt: string;
  /** When we last committed a change. */
  changedAt: string;
  /** When we last read it from the API. */
  syncedAt: string | null;
}

/** One milestone, as its last event or API read left it. */
export interface MirroredMilestone {
  /** The contract that it is part of. */
  contractId: string;
  /** The milestone's id, as text. */
  milestoneId: string;
  /** From API reads only; else `null`. */
  name: string | null;
  /** From API reads only; else `null`. */
  description: string | null;
  /** The status; `null` while it is unknown. */
  status: MilestoneStatus | null;
  /** When it got this status. ISO 8601. */
  statusSince: string | null;
  /** The status before. */
  previousStatus: string | null;
  /** Fees and taxes included. Halalas. From API reads only; else `null`. */
  amountMinor: number | null;
  /** As the service sent it. */
  dueDate: string | null;
}

/** One refund, from both of its webhooks. The refund's id joins them. */
export type MirroredRefund = Omit<RefundRecord, "refundKey">;

export function toRefund({
  initiatedKey: _,
  changedAt: __,
  refundKey: ___,
  ...refund
}: RefundRow): MirroredRefund {
  return refund;
}

/**
 * One payment of a contract or a milestone. A contract that is paid in milestones has one row for itself and one for each
 * milestone. To sum money, take only the rows whose `milestoneId` is `null`.
 */
export interface MirroredPayment {
  /** The payment's id. */
  paymentId: string;
  /** The contract. */
  contractId: string;
  /** The milestone; `null` for the payment of the whole contract. */
  milestoneId: string | null;
  /** The transaction's id, as sent. */
  transactionId: string | null;
  /** The invoice's id, as sent. */
  invoiceId: string | null;
  /** The amount. Halalas; `null` if it could not be read. */
  amountMinor: number | null;
  /** The currency's code: `SAR`. */
  currency: string;
  /** When it was paid. ISO 8601. */
  completedAt: string;
}

/** One dispute over a contract or a milestone. */
export interface MirroredDispute {
  /** The dispute's id; `null` if the event named none. */
  disputeId: string | null;
  /** The contract. */
  contractId: string;
  /** The milestone; `null` for a dispute over the whole contract. */
  milestoneId: string | null;
  /** When it was raised. ISO 8601. */
  raisedAt: string;
}

/** One line of the history: the status in an event or an API read, and whether the mirror followed it. */
export type Transition = Omit<TransitionRecord, "position">;

/** One stored delivery. Copies of it are counted, not stored. */
export interface MirroredDelivery {
  /**
   * The webhook id. If the delivery is not applied, or if another one has this webhook id: `sha256:` and the digest of its
   * body.
   */
  id: string;
  /** The id in the header, else the payload's id, else the digest of the body. */
  webhookId: string;
  /** The payload's `id`. */
  payloadId: string | null;
  /** The event type as sent; `null` if the body could not be read. */
  event: string | null;
  /** The contract. */
  contractId: string | null;
  /** The milestone. */
  milestoneId: string | null;
  /** The result: `applied`, `quarantined` and so on. */
  outcome: DeliveryRow["outcome"];
  /** Why it was not applied; `null` if it was. */
  reason: string | null;
  /** How many times it has arrived. */
  attempts: number;
  /** When it happened. ISO 8601; `null` if the service gave no time. */
  occurredAt: string | null;
  /** When it first arrived. ISO 8601. */
  receivedAt: string;
  /** When its newest copy arrived. ISO 8601. */
  lastReceivedAt: string;
  /** The id of the signing secret that verified it. */
  secretId: string;
  /** Resolves with the raw bytes as received, or with `null` once they are pruned. */
  body(): Promise<Uint8Array | null>;
}

/** One quarantined delivery, with its headers. */
export interface QuarantinedDelivery extends MirroredDelivery {
  /** The stored headers, never a signature. `null` once they are pruned. */
  headers: Readonly<Record<string, string>> | null;
}

/** Something odd that the mirror noticed. No delivery is refused because of an anomaly. */
export interface Anomaly {
  /** The kind of anomaly. The reference explains each. */
  kind: AnomalyKind;
  /** The contract. */
  contractId: string | null;
  /** The milestone. */
  milestoneId: string | null;
  /** The delivery's webhook id. */
  webhookId: string | null;
  /** A short text for people. */
  detail: string;
  /** The event's time. If the service sent none: when the delivery first arrived. ISO 8601. */
  at: string;
}
