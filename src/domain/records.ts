import type { Party } from "../events/snapshot.ts";
import type { AnomalyKind } from "./anomaly.ts";

/**
 * What the fold makes of one contract's inputs. Each record is one row of the table of its name; a record is
 * never changed in place, so that a changed one is told by identity.
 */
export interface ContractState {
  readonly contract: ContractRecord;
  readonly milestones: ReadonlyMap<string, MilestoneRecord>;
  readonly refunds: ReadonlyMap<string, RefundRecord>;
  readonly payments: ReadonlyMap<string, PaymentRecord>;
  readonly disputes: ReadonlyMap<string, DisputeRecord>;
  /** Those that the last fold or step appended; earlier ones stay in the store. */
  readonly transitions: readonly TransitionRecord[];
  readonly anomalies: readonly AnomalyRecord[];
}

export interface ContractRecord {
  readonly contractId: string;
  /** Canonical spelling; `null` while only milestone events told of the contract. */
  readonly status: string | null;
  /** When it moved there; while the status is `null`, the time of the first input. `""` before that. */
  readonly statusSince: string;
  /** Order key of the move that set the status. */
  readonly statusKey: string;
  /** Set by a milestone's refund (§3), not by an event of the contract's own. */
  readonly statusDerived: boolean;
  readonly previousStatus: string | null;
  readonly reference: string | null;
  readonly title: string | null;
  readonly description: string | null;
  readonly notes: string | null;
  readonly businessName: string | null;
  readonly serviceType: string | null;
  readonly amountMinor: number | null;
  readonly currency: string;
  readonly metadata1: string | null;
  readonly metadata2: string | null;
  readonly metadata3: string | null;
  readonly metadata4: string | null;
  readonly buyer: Party | null;
  readonly seller: Party | null;
  readonly createdAt: string | null;
  /** The newest time that the service gave; of a contract without any, when the delivery arrived that moved it last. */
  readonly updatedAt: string;
  readonly syncedAt: string | null;
  /** Order key of the newest input: an input above it is one step, any other a refold. */
  readonly lastKey: string;
  readonly transitionCount: number;
  readonly anomalyCount: number;
}

export interface MilestoneRecord {
  readonly contractId: string;
  readonly milestoneId: string;
  readonly name: string | null;
  readonly description: string | null;
  readonly status: string | null;
  readonly statusSince: string | null;
  readonly statusKey: string;
  readonly previousStatus: string | null;
  readonly amountMinor: number | null;
  readonly dueDate: string | null;
}

export const refundStates = ["requested", "initiated", "succeeded"] as const;

export interface RefundRecord {
  readonly contractId: string;
  readonly refundId: string;
  readonly milestoneId: string | null;
  readonly scope: "contract" | "milestone";
  readonly kind: "full" | "partial";
  readonly state: (typeof refundStates)[number];
  readonly inferred: boolean;
  readonly amountMinor: number | null;
  readonly currency: string;
  readonly requestedAt: string | null;
  readonly initiatedAt: string | null;
  readonly succeededAt: string | null;
}

export interface PaymentRecord {
  readonly contractId: string;
  /** Milestone and payment id in one: what the service keys a payment by. */
  readonly paymentKey: string;
  readonly paymentId: string;
  readonly milestoneId: string | null;
  readonly transactionId: string | null;
  readonly invoiceId: string | null;
  readonly amountMinor: number | null;
  readonly currency: string;
  readonly completedAt: string;
}

export interface DisputeRecord {
  readonly contractId: string;
  /** The dispute id, else milestone and time. */
  readonly disputeKey: string;
  readonly disputeId: string | null;
  readonly milestoneId: string | null;
  readonly raisedAt: string;
}

export interface TransitionRecord {
  readonly contractId: string;
  /** 1, 2, 3 … in key order. */
  readonly position: number;
  readonly entity: "contract" | "milestone";
  readonly milestoneId: string | null;
  readonly from: string | null;
  readonly to: string;
  readonly event: string;
  readonly webhookId: string | null;
  readonly occurredAt: string | null;
  readonly moved: boolean;
  readonly derived: boolean;
  readonly source: "spec" | "inferred" | "unexpected";
  readonly anomaly: AnomalyKind | null;
}

export interface AnomalyRecord {
  readonly contractId: string;
  /** 1, 2, 3 … in key order. */
  readonly position: number;
  readonly kind: AnomalyKind;
  readonly milestoneId: string | null;
  readonly webhookId: string | null;
  readonly detail: string;
  /** The input's time; where the service gave none, when it arrived. */
  readonly at: string;
}

export function emptyState(contractId: string): ContractState {
  return {
    contract: { ...blankContract, contractId },
    milestones: new Map(),
    refunds: new Map(),
    payments: new Map(),
    disputes: new Map(),
    transitions: [],
    anomalies: [],
  };
}

const blankContract: ContractRecord = {
  contractId: "",
  status: null,
  statusSince: "",
  statusKey: "",
  statusDerived: false,
  previousStatus: null,
  reference: null,
  title: null,
  description: null,
  notes: null,
  businessName: null,
  serviceType: null,
  amountMinor: null,
  currency: "SAR",
  metadata1: null,
  metadata2: null,
  metadata3: null,
  metadata4: null,
  buyer: null,
  seller: null,
  createdAt: null,
  updatedAt: "",
  syncedAt: null,
  lastKey: "",
  transitionCount: 0,
  anomalyCount: 0,
};
