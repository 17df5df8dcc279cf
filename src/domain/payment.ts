import type { EventFacts } from "../events/event.ts";
import { noteAnomaly, type Draft, type Origin } from "./draft.ts";
import { recordKey } from "./record-key.ts";
import type { DisputeRecord, PaymentRecord } from "./records.ts";

/** A payment is keyed by `paymentId`, else `transactionId`, and milestone (semantics §6). */
export function recordPayment(draft: Draft, origin: Origin, facts: EventFacts): void {
  const paymentId = facts.paymentId ?? facts.transactionId;
  if (paymentId === null) {
    noteAnomaly(draft, origin, "payment-without-id", facts.milestoneId, `${facts.event} names no paymentId`);
    return;
  }
  const paymentKey = recordKey(facts.milestoneId, paymentId);
  const known = draft.payments.get(paymentKey);
  const payment: PaymentRecord = {
    contractId: draft.contract.contractId,
    paymentKey,
    paymentId,
    milestoneId: facts.milestoneId,
    transactionId: facts.transactionId ?? known?.transactionId ?? null,
    invoiceId: facts.invoiceId ?? known?.invoiceId ?? null,
    amountMinor: facts.amountMinor ?? known?.amountMinor ?? null,
    currency: facts.currency,
    completedAt: known?.completedAt ?? origin.at,
  };
  draft.payments.set(paymentKey, payment);
}

/** A dispute is keyed by `disputeId`, else milestone and time (semantics §6). */
export function recordDispute(draft: Draft, origin: Origin, facts: EventFacts): void {
  const { disputeId, milestoneId } = facts;
  const disputeKey =
    disputeId === null ? recordKey("at", milestoneId, origin.orderKey) : recordKey("id", disputeId);
  const known = draft.disputes.get(disputeKey);
  const dispute: DisputeRecord = {
    contractId: draft.contract.contractId,
    disputeKey,
    disputeId,
    milestoneId: known?.milestoneId ?? milestoneId,
    raisedAt: known?.raisedAt ?? origin.at,
  };
  draft.disputes.set(disputeKey, dispute);
}
