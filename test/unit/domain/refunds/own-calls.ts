/** Our own requests for refunds, and the answers to them, as the fold takes them in. */
import type { AnswerInput, RequestInput } from "../../../../src/domain/input.ts";
import { orderKeyOf } from "../../../../src/shared/wire-time.ts";
import { at, sha256 } from "../../../support/delivery.ts";

export interface Asked {
  readonly intentId?: string;
  readonly seconds?: number;
  readonly milestoneId?: string | null;
  readonly refundKind?: "full" | "partial";
}

function factsOf({ intentId = "i-1", milestoneId = null, refundKind = "full" }: Asked) {
  return { of: "refund", intentId, contractId: "CNT-1", milestoneId, refundKind, amountMinor: 2500 } as const;
}

export function asked(shape: Asked = {}): RequestInput {
  const takenAt = at(shape.seconds ?? 0);
  const facts = { ...factsOf(shape), takenAt, orderKey: orderKeyOf(takenAt) };
  return { kind: "request", digest: sha256(JSON.stringify(facts)), receivedAt: takenAt, facts };
}

/** The answer to `asked` of the same shape, one second later. */
export function answered(refundId: string | null, shape: Asked = {}): AnswerInput {
  const [requestedAt, takenAt] = [at(shape.seconds ?? 0), at((shape.seconds ?? 0) + 1)];
  const facts = { ...factsOf(shape), takenAt, orderKey: orderKeyOf(takenAt), requestedAt, refundId };
  return { kind: "answer", digest: sha256(JSON.stringify(facts)), receivedAt: takenAt, facts };
}
