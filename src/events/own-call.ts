/** Our own calls of the API and the answers to them: inputs of the fold, as events and reads are. */
import type { SnapshotFields } from "./snapshot.ts";

/** Something that we asked the service for. */
export type RequestFacts = CreateRequestFacts | RefundRequestFacts;

/** The contract that we asked for. It has no place in time: every answer and every event says more. */
export interface CreateRequestFacts {
  readonly of: "create";
  readonly contractId: string;
  readonly orderKey: "";
  readonly takenAt: null;
  readonly fields: SnapshotFields;
}

/** A refund as far as the request tells. */
export interface RefundAsked {
  readonly of: "refund";
  /** Tells our own requests apart: the service has no key for them. */
  readonly intentId: string;
  readonly contractId: string;
  readonly orderKey: string;
  /** By this machine's clock, as ISO 8601: of the request, or of the answer. */
  readonly takenAt: string;
  /** `null` for a refund of the whole contract. */
  readonly milestoneId: string | null;
  readonly refundKind: "full" | "partial";
  readonly amountMinor: number | null;
}

export type RefundRequestFacts = RefundAsked;

/** The answer to our own refund request. */
export interface AnswerFacts extends RefundAsked {
  /** The request's own time. */
  readonly requestedAt: string;
  /** `null` where the service refused. */
  readonly refundId: string | null;
}
