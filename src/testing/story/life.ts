/** The life of a contract as the service itself knows it: the source of histories and schedules. */

/**
 * The edition of the service's events. `spec` is the present one; `earlier` reports milestone refunds under the
 * contract's names.
 */
export type Edition = "spec" | "earlier";

/** One legal life of a contract, and the correct state at its end. */
export interface ContractLife {
  /** The contract's external id. */
  readonly contractId: string;
  /** The edition of its events. */
  readonly edition: Edition;
  /** The app's own id. */
  readonly reference: string | null;
  /** The app's own texts. */
  readonly metadata: Readonly<Record<string, string>>;
  /** The ids of its milestones. */
  readonly milestoneIds: readonly string[];
  /** The service's events, in the order in which they happened. */
  readonly events: readonly LifeEvent[];
  /** The state after each event: `standings[i]` is the API's answer after `events[i]`. */
  readonly standings: readonly ServiceStanding[];
  /** The correct state at its end. */
  readonly truth: Truth;
}

/** One event as the service means it, before it is written as JSON. */
export interface LifeEvent {
  /** The event's type. */
  readonly event: string;
  /** The status after the event. */
  readonly status: string;
  /** The status before the event. */
  readonly previousStatus: string | null;
  /** Whether the machine has this step. If so, the event needs no `previousStatus`. A step back needs one. */
  readonly forward: boolean;
  /** For a milestone's refund in the earlier edition: puts the milestone into `metadata`, and uses the contract's status. */
  readonly milestoneInMetadata: boolean;
  /** The milestone; `null` for an event of the contract. */
  readonly milestoneId: string | null;
  /** The amount. Halalas. */
  readonly amountMinor: number;
  /** The payment's or the refund's id. */
  readonly transactionId: string | null;
  /** The payment's id. */
  readonly paymentId: string | null;
  /** The invoice's id. */
  readonly invoiceId: string | null;
  /** The dispute's id. */
  readonly disputeId: string | null;
  /** The moves in the service. A milestone's refund can also move the contract. */
  readonly moves: readonly LifeMove[];
}

/** One move of a contract or a milestone. */
export interface LifeMove {
  /** The milestone; `null` for the contract itself. */
  readonly milestoneId: string | null;
  /** The status before. */
  readonly from: string | null;
  /** The status after. */
  readonly to: string;
}

/** The service's API answer at one moment. */
export interface ServiceStanding {
  /** The contract's status. */
  readonly status: string | null;
  /** The milestones' statuses by id. */
  readonly milestones: ReadonlyMap<string, string | null>;
}

/** The correct state at the end of a life. The mirror's code is not used to compute it. */
export interface Truth {
  /** The contract's status. */
  readonly status: string | null;
  /** The statuses of the milestones that had an event, by id. */
  readonly milestones: ReadonlyMap<string, string>;
  /** The refunds. */
  readonly refunds: readonly TrueRefund[];
  /** The payments. */
  readonly payments: readonly TruePayment[];
  /** The disputes. */
  readonly disputes: readonly TrueDispute[];
  /** The app's own id. */
  readonly reference: string | null;
  /** The app's own texts. */
  readonly metadata: Readonly<Record<string, string>>;
  /** The contract's amount. Halalas. */
  readonly amountMinor: number;
}

/** A refund as the service knows it. */
export interface TrueRefund {
  /** The refund's id. */
  readonly refundId: string;
  /** The milestone; `null` for a refund of the contract. */
  readonly milestoneId: string | null;
  /** Whether the contract or a milestone is refunded. */
  readonly scope: "contract" | "milestone";
  /** Whether the whole amount is refunded, or a part. */
  readonly kind: "full" | "partial";
  /** The state. */
  readonly state: "initiated" | "succeeded";
  /** The buyer's share. Halalas. */
  readonly amountMinor: number;
  /** The index in `ContractLife.events` of its first event. */
  readonly initiatedBy: number;
  /** The index of its second event; `null` if there is none. */
  readonly succeededBy: number | null;
}

/** A payment as the service knows it. */
export interface TruePayment {
  /** The payment's id. */
  readonly paymentId: string;
  /** The milestone; `null` for the payment of the contract. */
  readonly milestoneId: string | null;
  /** The transaction's id. */
  readonly transactionId: string;
  /** The invoice's id. */
  readonly invoiceId: string;
  /** The amount. Halalas. */
  readonly amountMinor: number;
}

/** A dispute as the service knows it. */
export interface TrueDispute {
  /** The dispute's id. */
  readonly disputeId: string | null;
  /** The milestone; `null` for a dispute over the contract. */
  readonly milestoneId: string | null;
  /** The index in `ContractLife.events` of its event. */
  readonly raisedBy: number;
}
