import type { AnomalyKind } from "../domain/anomaly.ts";
import type { RefundRecord, TransitionRecord } from "../domain/records.ts";
import type { ContractStatus, MilestoneStatus } from "../domain/status.ts";
import type { EventMetadata } from "../events/event.ts";
import type { Party } from "../events/snapshot.ts";
import type { DeliveryRow, RefundRow } from "../store/tables.ts";

/** A contract as the mirror knows it. Amounts are halalas; times ISO 8601 with Z, their fraction as the service gave it. */
export interface MirroredContract {
  contractId: string;
  reference: string | null;
  /** `"unknown"` while only events of its milestones have come. */
  status: ContractStatus;
  /** When it moved there. Where the service gave no time, when the delivery that moved it first arrived. */
  statusSince: string;
  previousStatus: string | null;
  title: string | null;
  description: string | null;
  notes: string | null;
  businessName: string | null;
  serviceType: string | null;
  /** The base amount, without fees. */
  amountMinor: number | null;
  currency: string;
  metadata: EventMetadata;
  /** Only an API read brings the parties. */
  buyer: Party | null;
  seller: Party | null;
  milestones: MirroredMilestone[];
  refunds: MirroredRefund[];
  createdAt: string | null;
  /** The newest time that the service gave. Where it gave none, when the delivery that moved it last first arrived. */
  updatedAt: string;
  /** When we last committed a change. */
  changedAt: string;
  /** When we last read it from the API. */
  syncedAt: string | null;
}

/** One milestone, as the last event or API read of it left it. Its amount comes from API answers only, which include fees (§2.5). */
export interface MirroredMilestone {
  contractId: string;
  milestoneId: string;
  name: string | null;
  description: string | null;
  status: MilestoneStatus | null;
  statusSince: string | null;
  previousStatus: string | null;
  /** Halalas, fees and taxes included (§2.5). */
  amountMinor: number | null;
  dueDate: string | null;
}

/** Both webhooks of one refund, paired by its id (§6.4). */
export type MirroredRefund = RefundRecord;

export function toRefund({ initiatedKey: _, changedAt: __, ...refund }: RefundRow): MirroredRefund {
  return refund;
}

/**
 * One payment of a contract or of a milestone. A contract paid in milestones has a row of its own and one for each of them:
 * sum those whose `milestoneId` is `null`.
 */
export interface MirroredPayment {
  paymentId: string;
  contractId: string;
  milestoneId: string | null;
  transactionId: string | null;
  invoiceId: string | null;
  amountMinor: number | null;
  currency: string;
  completedAt: string;
}

/** One dispute that was raised over a contract or a milestone. */
export interface MirroredDispute {
  disputeId: string | null;
  contractId: string;
  milestoneId: string | null;
  raisedAt: string;
}

/** One line of a contract's history: what an input said of one entity, and whether that moved it. */
export type Transition = Omit<TransitionRecord, "position">;

export interface MirroredDelivery {
  /** The webhook id, or an id of its own for a delivery that is set aside. */
  id: string;
  webhookId: string;
  payloadId: string | null;
  event: string | null;
  contractId: string | null;
  milestoneId: string | null;
  outcome: DeliveryRow["outcome"];
  reason: string | null;
  /** How many times it came. */
  attempts: number;
  occurredAt: string | null;
  receivedAt: string;
  lastReceivedAt: string;
  /** Which signing secret verified it. */
  secretId: string;
  /** The raw bytes as received; `null` once pruned. */
  body(): Promise<Uint8Array | null>;
}

export interface QuarantinedDelivery extends MirroredDelivery {
  /** As received, without the signature; `null` once pruned. */
  headers: Readonly<Record<string, string>> | null;
}

export interface Anomaly {
  kind: AnomalyKind;
  contractId: string | null;
  milestoneId: string | null;
  webhookId: string | null;
  detail: string;
  /** The event's time. Where the service gave none, when the delivery first arrived. */
  at: string;
}
