/** The life of a contract as the service itself knows it: the source of histories and schedules. */

/** Whose events tell of a life: `spec` is the spec's own (§6.1), `earlier` the edition of the supplement. */
export type Edition = "spec" | "earlier";

/** One legal life of a contract, and what is true of it at its end. */
export interface ContractLife {
  readonly contractId: string;
  readonly edition: Edition;
  readonly reference: string | null;
  readonly metadata: Readonly<Record<string, string>>;
  readonly milestoneIds: readonly string[];
  /** The service's events, in the order in which they happened. */
  readonly events: readonly LifeEvent[];
  /** How things stood after each event: `standings[i]` is what an API read after `events[i]` shows. */
  readonly standings: readonly ServiceStanding[];
  readonly truth: Truth;
}

/** One event as the service means it, before it is written as JSON. */
export interface LifeEvent {
  readonly event: string;
  readonly status: string;
  readonly previousStatus: string | null;
  /** The machine leads here, so that the event is understood without its `previousStatus` too; a way back is not. */
  readonly forward: boolean;
  /** A milestone's refund in the earlier edition: the milestone goes into `metadata`, the status is the contract's. */
  readonly milestoneInMetadata: boolean;
  readonly milestoneId: string | null;
  readonly amountMinor: number;
  readonly transactionId: string | null;
  readonly paymentId: string | null;
  readonly invoiceId: string | null;
  readonly disputeId: string | null;
  /** The moves in the service, with the contract's part in a milestone's refund. */
  readonly moves: readonly LifeMove[];
}

/** `milestoneId` is `null` for the contract itself. */
export interface LifeMove {
  readonly milestoneId: string | null;
  readonly from: string | null;
  readonly to: string;
}

/** The service's API answer at one moment. */
export interface ServiceStanding {
  readonly status: string | null;
  readonly milestones: ReadonlyMap<string, string | null>;
}

/** The truth at the end of a life: computed by the walk itself, without the mirror's fold. */
export interface Truth {
  readonly status: string | null;
  /** Those that an event told of. */
  readonly milestones: ReadonlyMap<string, string>;
  readonly refunds: readonly TrueRefund[];
  readonly payments: readonly TruePayment[];
  readonly disputes: readonly TrueDispute[];
  readonly reference: string | null;
  readonly metadata: Readonly<Record<string, string>>;
  readonly amountMinor: number;
}

export interface TrueRefund {
  readonly refundId: string;
  readonly milestoneId: string | null;
  readonly scope: "contract" | "milestone";
  readonly kind: "full" | "partial";
  readonly state: "initiated" | "succeeded";
  readonly amountMinor: number;
  /** The numbers of the events that told of it, in `ContractLife.events`. */
  readonly initiatedBy: number;
  readonly succeededBy: number | null;
}

export interface TruePayment {
  readonly paymentId: string;
  readonly milestoneId: string | null;
  readonly transactionId: string;
  readonly invoiceId: string;
  readonly amountMinor: number;
}

export interface TrueDispute {
  readonly disputeId: string | null;
  readonly milestoneId: string | null;
  readonly raisedBy: number;
}
