import { isKnownEventType, type EventFacts } from "../events/event.ts";
import type { ParseFlag } from "../events/flags.ts";
import { decideEvent } from "./decide.ts";
import {
  closeDraft,
  milestoneOf,
  noteAnomaly,
  openDraft,
  standingOf,
  recordMove,
  type Draft,
  type Origin,
} from "./draft.ts";
import {
  familyOf,
  isRedaction,
  redactInput,
  redactionIn,
  type FoldInput,
  type RedactionInput,
  type StoredInput,
} from "./input.ts";
import { contradictsType, impliedStatus, reportedMoves } from "./moves.ts";
import { groupByTime, queueTied, takeTied } from "./order.ts";
import { recordDispute, recordPayment } from "./payment.ts";
import { putMilestone } from "./lookups.ts";
import { applyAnswer, applyRequest } from "./own-refund.ts";
import { emptyState, type ContractState } from "./records.ts";
import { endsRefund, inferSuccess, isRefundOf, overlappedBy, recordRefund, refundPhaseOf } from "./refund.ts";
import { finish, stepItems, type Steps } from "./steps.ts";
import { applySnapshot, isUnlinked } from "./snapshot.ts";

/** The option `fold`: how events become statuses. */
export interface FoldOptions {
  /** How much two clocks of the service may differ. Milliseconds, default 60,000. */
  readonly skewMs: number;
}

/** The state of one contract: a fold over its inputs in key order, whatever order they are given in (semantics §5.2). */
export function fold(contractId: string, inputs: readonly FoldInput[], options: FoldOptions): ContractState {
  return finish(foldInSteps(contractId, inputs, options));
}

/** The same for whoever has other work to do in between. */
export function foldInSteps(
  contractId: string,
  inputs: readonly FoldInput[],
  options: FoldOptions,
): Steps<ContractState> {
  return advanceInSteps(emptyState(contractId), inputs, options);
}

/** The tables whose rows belong to a contract. */
export const attachments = ["milestones", "refunds", "payments", "disputes"] as const;
export type Attachment = (typeof attachments)[number];

/** The key of such a row within its contract. */
export const attachmentKeys = {
  milestones: "milestoneId",
  refunds: "refundKey",
  payments: "paymentKey",
  disputes: "disputeKey",
} as const;

/** The attachments that `advance` reads for an input. The others need not be loaded. */
export function attachmentsRead(input: FoldInput): readonly Attachment[] {
  if (input.kind !== "event") return ["milestones", "refunds"];
  const { event, milestoneId, status } = input.facts;
  const read: Attachment[] = milestoneId === null ? [] : ["milestones"];
  if (refundPhaseOf(event) !== undefined || meansRefunded(status ?? impliedStatus(event)))
    read.push("refunds");
  if (isPayment(event)) read.push("payments");
  if (isDispute(event)) read.push("disputes");
  return read;
}

/**
 * Folds in inputs that all come after `state.contract.lastKey`: that equals folding anew. The transitions and
 * anomalies of the result are the ones to append.
 */
export function advance(
  state: ContractState,
  inputs: readonly FoldInput[],
  options: FoldOptions,
): ContractState {
  return finish(advanceInSteps(state, inputs, options));
}

/** The same for whoever has other work to do in between. */
export function* advanceInSteps(
  state: ContractState,
  inputs: readonly FoldInput[],
  options: FoldOptions,
): Steps<ContractState> {
  const draft = openDraft(state);
  const redactedAt = (draft.contract.redactedAt ??= redactionIn(inputs));
  const given = redactedAt === null ? inputs : inputs.map(redactInput);
  let applied = 0;
  for (const tied of yield* groupByTime(given)) {
    const ordered = tied.length === 1 ? tied : takeTied(draft, yield* queueTied(tied));
    for (const input of ordered) {
      apply(draft, input, options);
      if (++applied % stepItems === 0) yield;
    }
  }
  return closeDraft(draft);
}

function apply(draft: Draft, input: FoldInput, options: FoldOptions): void {
  if (isRedaction(input)) return;
  const { contract } = draft;
  contract.lastKey = input.facts.orderKey;
  const origin = originOf(input);
  if (input.kind === "event") applyEvent(draft, input.facts, origin, options);
  else applyStored(draft, input, origin, options.skewMs);
  contract.statusSince ||= origin.at;
  contract.updatedAt ||= origin.at;
}

function applyStored(
  draft: Draft,
  input: Exclude<StoredInput, RedactionInput>,
  origin: Origin,
  skewMs: number,
): void {
  if (input.kind === "snapshot") applySnapshot(draft, input, origin, skewMs);
  else if (input.kind === "answer") applyAnswer(draft, input.facts, origin);
  else if (input.facts.of === "refund") applyRequest(draft, input.facts, skewMs);
  else Object.assign(draft.contract, input.facts.fields);
}

function applyEvent(draft: Draft, facts: EventFacts, origin: Origin, options: FoldOptions): void {
  noteOddities(draft, origin, facts);
  describe(draft, origin, facts);
  if (facts.milestoneId !== null) ensureMilestone(draft, origin, facts.milestoneId);
  const phase = refundPhaseOf(facts.event);
  const overlapped = phase && overlappedBy(draft, facts, phase);
  const refunded = reportedMoves(facts).flatMap((move) => {
    const standing = standingOf(draft, move.milestoneId);
    const claim = { next: move.next, prev: move.prev, orderKey: facts.orderKey };
    const decision = decideEvent(move.machine, standing, claim, options.skewMs);
    recordMove(draft, origin, move, decision);
    const isRefunded = decision.moved && endsRefund(move.next);
    return isRefunded ? [{ milestoneId: move.milestoneId, was: standing }] : [];
  });
  const refund = phase && recordRefund(draft, origin, facts, phase);
  const told = phase?.phase === "succeeded" ? refund : undefined;
  for (const { milestoneId, was } of refunded)
    if (told === undefined || !isRefundOf(told, milestoneId)) inferSuccess(draft, milestoneId, was);
  if (overlapped !== undefined) noteOverlap(draft, origin, facts, overlapped);
  if (isPayment(facts.event)) recordPayment(draft, origin, facts);
  if (isDispute(facts.event)) recordDispute(draft, origin, facts);
}

function meansRefunded(status: string | null): boolean {
  return status?.toLowerCase() === "refunded";
}

function isPayment(event: string): boolean {
  return event === "payment.completed" || event === "milestone.payment.completed";
}

function isDispute(event: string): boolean {
  return event === "contract.disputed" || event === "milestone.disputed";
}

/** A time that the service did not give is that of the arrival (semantics §5.1). */
function originOf(input: FoldInput): Origin {
  const { orderKey } = input.facts;
  if (input.kind !== "event") {
    const { takenAt } = input.facts;
    return {
      event: input.kind,
      webhookId: null,
      occurredAt: takenAt,
      at: takenAt ?? input.receivedAt,
      orderKey,
    };
  }
  const { event, occurredAt } = input.facts;
  const { webhookId, receivedAt } = input;
  return { event, webhookId, occurredAt, at: occurredAt ?? receivedAt, orderKey };
}

function noteOddities(draft: Draft, origin: Origin, facts: EventFacts): void {
  for (const flag of facts.flags)
    noteAnomaly(draft, origin, flag, facts.milestoneId, `${facts.event}: ${oddities[flag]}`);
  if (!isKnownEventType(facts.event))
    noteAnomaly(draft, origin, "unknown-event", facts.milestoneId, facts.event);
  if (contradictsType(facts))
    noteAnomaly(draft, origin, "status-mismatch", facts.milestoneId, `${facts.event} says ${facts.status}`);
  if (familyOf(facts.event) === "milestone" && facts.milestoneId === null)
    noteAnomaly(draft, origin, "milestone-missing", null, `${facts.event} names no milestone`);
}

const oddities: Readonly<Record<ParseFlag, string>> = {
  "no-zone": "its time names no zone and is read as UTC",
  "no-time": "it has no readable time and sorts before all that have one",
  "amount-precision": "its amount has more than two decimals and is rounded",
  "amount-range": "its amount is too large to be kept as a number",
  "amount-unreadable": "its amount is not a number and is not kept",
  "foreign-currency": "its currency is not SAR",
  "previous-status-unreadable": "its previousStatus is not a name and counts as absent",
};

/** The last non-null value in key order wins; a webhook never clears (semantics §5.9). */
function describe(draft: Draft, origin: Origin, facts: EventFacts): void {
  const { contract } = draft;
  if (facts.reference !== null) contract.reference = facts.reference;
  Object.assign(contract, facts.metadata);
  if (facts.occurredAt !== null) contract.updatedAt = facts.occurredAt;
  if (facts.event !== "contract.created") return;
  contract.currency = facts.currency;
  if (facts.amountMinor !== null) contract.amountMinor = facts.amountMinor;
  if (facts.occurredAt !== null || contract.createdAt === null) contract.createdAt = origin.at;
}

function ensureMilestone(draft: Draft, origin: Origin, milestoneId: string): void {
  if (draft.milestones.has(milestoneId)) return;
  if (isUnlinked(draft, milestoneId))
    noteAnomaly(draft, origin, "milestone-unlinked", milestoneId, "no API read shows a milestone of this id");
  putMilestone(draft, milestoneOf(draft, milestoneId));
}

function noteOverlap(draft: Draft, origin: Origin, facts: EventFacts, overlapped: string): void {
  const detail = `refund ${facts.transactionId} began while ${overlapped} under way`;
  noteAnomaly(draft, origin, "refund-overlap", facts.milestoneId, detail);
}
