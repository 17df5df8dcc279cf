/** The two webhooks of a refund, and the refunds that inputs come to. */
import type { FoldInput } from "../../../../src/domain/input.ts";
import { compareText } from "../../../../src/domain/order.ts";
import { event, foldOf, type EventShape } from "../../../support/delivery.ts";

export const paid = event("payment.completed", { seconds: -100, paymentId: "P", status: "Escrow" });

export const initiated = (shape: EventShape = {}) =>
  event("refund.full-initiated", {
    seconds: 0,
    transactionId: "T-1",
    amount: 25,
    previousStatus: "Escrow",
    ...shape,
  });

export const succeeded = (shape: EventShape = {}) =>
  event("refund.full-succeeded", {
    seconds: 100,
    transactionId: "T-1",
    amount: 25,
    previousStatus: "RefundInProgress",
    ...shape,
  });

export const secondRefund = (shape: EventShape = {}) =>
  initiated({ seconds: 10, transactionId: "T-2", ...shape });

export const milestoneRefund = (milestoneId: number, seconds: number) =>
  event("milestone.refund.full-initiated", {
    seconds,
    milestoneId,
    transactionId: `T-${milestoneId}`,
    previousStatus: "Escrow",
  });

export const refundsOf = (...inputs: FoldInput[]) => [...foldOf(...inputs).refunds.values()];

export const byId = (...inputs: FoldInput[]) =>
  refundsOf(...inputs).toSorted((a, b) => compareText(a.refundKey, b.refundKey));
