import type { Party } from "../events/snapshot.ts";
import type { AnomalyKind } from "./anomaly.ts";

/**
 * The results of one contract's fold. Each record is one row of the table of its name. A record is never changed in
 * place, so its identity shows whether it changed.
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

/** One contract, as its inputs left it. */
export interface ContractRecord {
  /** The service's id of the contract. */
  readonly contractId: string;
  /** The status, in its usual spelling. `null` while only events of its milestones have arrived. */
  readonly status: string | null;
  /** When it got this status. While the status is `null`: the time of the first input. ISO 8601. */
  readonly statusSince: string;
  /** The same time as text that sorts exactly. */
  readonly statusKey: string;
  /** Whether a milestone's refund set the status, and not an event of the contract itself. */
  readonly statusDerived: boolean;
  /** The status before. */
  readonly previousStatus: string | null;
  /** The app's own id, given when the contract was created. */
  readonly reference: string | null;
  /** From API reads only. */
  readonly title: string | null;
  /** From API reads only. */
  readonly description: string | null;
  /** From API reads only. */
  readonly notes: string | null;
  /** From API reads only. */
  readonly businessName: string | null;
  /** `product` or `service`. From API reads only. */
  readonly serviceType: string | null;
  /** The base amount without fees. Halalas. */
  readonly amountMinor: number | null;
  /** The currency's code: `SAR`. */
  readonly currency: string;
  /** The app's own text. */
  readonly metadata1: string | null;
  /** The app's own text. */
  readonly metadata2: string | null;
  /** The app's own text. */
  readonly metadata3: string | null;
  /** The app's own text. */
  readonly metadata4: string | null;
  /** From API reads only. */
  readonly buyer: Party | null;
  /** From API reads only. */
  readonly seller: Party | null;
  /** When the service created it. ISO 8601. */
  readonly createdAt: string | null;
  /**
   * The newest time that the service gave. If it gave none: when the delivery that last moved the contract first arrived.
   * ISO 8601.
   */
  readonly updatedAt: string;
  /** When it was last read from the API. ISO 8601; `null` if never. */
  readonly syncedAt: string | null;
  /** The order key of the newest input. A later input is folded in one step. Any other one needs a refold. */
  readonly lastKey: string;
  /** How many rows of `transitions` it has. */
  readonly transitionCount: number;
  /** How many numbered rows of `anomalies` it has. */
  readonly anomalyCount: number;
  /** When its personal data was erased; `null` if it was not. ISO 8601. */
  readonly redactedAt: string | null;
}

/** One milestone, as its inputs left it. */
export interface MilestoneRecord {
  /** The contract that it is part of. */
  readonly contractId: string;
  /** The milestone's id, as text. */
  readonly milestoneId: string;
  /** From API reads only. */
  readonly name: string | null;
  /** From API reads only. */
  readonly description: string | null;
  /** The status, in its usual spelling; `null` until an input gives it. */
  readonly status: string | null;
  /** When it got this status. ISO 8601. */
  readonly statusSince: string | null;
  /** The same time as text that sorts exactly. */
  readonly statusKey: string;
  /** The status before. */
  readonly previousStatus: string | null;
  /** Fees and taxes included. Halalas. From API reads only. */
  readonly amountMinor: number | null;
  /** As the service sent it. */
  readonly dueDate: string | null;
}

/** The states of a refund, in order. */
export const refundStates = ["requested", "initiated", "succeeded"] as const;

/** One refund, from both of its webhooks. The refund's id joins them. */
export interface RefundRecord {
  /** The contract. */
  readonly contractId: string;
  /** Identifies the refund within its contract: the refund's id, or a key of our own until it has one. */
  readonly refundKey: string;
  /** The refund's id: `transactionId` of its webhooks. `null` for a request of ours until its answer or a webhook names it. */
  readonly refundId: string | null;
  /** The milestone; `null` for a refund of the whole contract. */
  readonly milestoneId: string | null;
  /** Whether the contract or one milestone is refunded. */
  readonly scope: "contract" | "milestone";
  /** Whether the whole amount goes back to the buyer, or a part. */
  readonly kind: "full" | "partial";
  /** The last state that was seen. */
  readonly state: (typeof refundStates)[number];
  /** `true` if no webhook reported that it succeeded, and only a status shows it. */
  readonly inferred: boolean;
  /** The amount that goes back to the buyer. Halalas. */
  readonly amountMinor: number | null;
  /** The currency's code: `SAR`. */
  readonly currency: string;
  /** When the app requested it. ISO 8601. */
  readonly requestedAt: string | null;
  /** The time of its first webhook. ISO 8601. */
  readonly initiatedAt: string | null;
  /** The time of its second webhook. ISO 8601. */
  readonly succeededAt: string | null;
}

/** One payment of a contract or a milestone. */
export interface PaymentRecord {
  /** The contract. */
  readonly contractId: string;
  /** Milestone and payment id in one. */
  readonly paymentKey: string;
  /** The payment's id. */
  readonly paymentId: string;
  /** The milestone; `null` for the payment of the whole contract. */
  readonly milestoneId: string | null;
  /** The transaction's id, as sent. */
  readonly transactionId: string | null;
  /** The invoice's id, as sent. */
  readonly invoiceId: string | null;
  /** The amount. Halalas; `null` if it could not be read. */
  readonly amountMinor: number | null;
  /** The currency's code: `SAR`. */
  readonly currency: string;
  /** When it was paid. ISO 8601. */
  readonly completedAt: string;
}

/** One dispute over a contract or a milestone. */
export interface DisputeRecord {
  /** The contract. */
  readonly contractId: string;
  /** The dispute's id, or else milestone and time. */
  readonly disputeKey: string;
  /** The dispute's id; `null` if the event named none. */
  readonly disputeId: string | null;
  /** The milestone; `null` for a dispute over the whole contract. */
  readonly milestoneId: string | null;
  /** When it was raised. ISO 8601. */
  readonly raisedAt: string;
}

/** One line of the history: the status in an event, and whether it moved the contract or milestone. */
export interface TransitionRecord {
  /** The contract. */
  readonly contractId: string;
  /** 1, 2, 3 … in the order of the events' times. */
  readonly position: number;
  /** Whether the contract or a milestone is meant. */
  readonly entity: "contract" | "milestone";
  /** The milestone. */
  readonly milestoneId: string | null;
  /** The status before; `null` if there was none. */
  readonly from: string | null;
  /** The status in the event. */
  readonly to: string;
  /** The event's type, or `snapshot` for an API read. */
  readonly event: string;
  /** The delivery's webhook id; `null` for an API read. */
  readonly webhookId: string | null;
  /** When it happened. ISO 8601; `null` if the service gave no time. */
  readonly occurredAt: string | null;
  /** Whether it changed the status. */
  readonly moved: boolean;
  /** Whether a milestone's refund moved the contract. */
  readonly derived: boolean;
  /** `spec` and `inferred`: the machine has this step. `unexpected`: it has not. */
  readonly source: "spec" | "inferred" | "unexpected";
  /** The kind of anomaly that came with it. */
  readonly anomaly: AnomalyKind | null;
}

/** One anomaly of a contract's history. */
export interface AnomalyRecord {
  /** The contract. */
  readonly contractId: string;
  /** 1, 2, 3 … in the order of the events' times. */
  readonly position: number;
  /** The kind of anomaly. */
  readonly kind: AnomalyKind;
  /** The milestone. */
  readonly milestoneId: string | null;
  /** The delivery's webhook id. */
  readonly webhookId: string | null;
  /** A short text for people. */
  readonly detail: string;
  /** The event's time. If the service sent none: when the delivery first arrived. ISO 8601. */
  readonly at: string;
}

export function emptyState(contractId: string): ContractState {
  return {
    contract: { contractId, ...blankContract },
    milestones: new Map(),
    refunds: new Map(),
    payments: new Map(),
    disputes: new Map(),
    transitions: [],
    anomalies: [],
  };
}

const blankContract: Omit<ContractRecord, "contractId"> = {
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
  redactedAt: null,
};
