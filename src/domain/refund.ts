import type { EventFacts } from "../events/event.ts";
import { noteAnomaly, standingOf, type Draft, type Origin } from "./draft.ts";
import type { RefundRecord } from "./records.ts";

/** What a refund event says of its refund, by its type alone. */
export interface RefundPhase {
  readonly kind: "full" | "partial";
  readonly phase: "initiated" | "succeeded";
}

/** `undefined` for every event that is not a refund's own; the legacy `contract.refunded` is none (semantics §6). */
export function refundPhaseOf(eventType: string): RefundPhase | undefined {
  return phases[eventType];
}

const full = { kind: "full" } as const;
const partial = { kind: "partial" } as const;
const phases: Readonly<Record<string, RefundPhase>> = {
  __proto__: null as never,
  "refund.full-initiated": { ...full, phase: "initiated" },
  "refund.full-succeeded": { ...full, phase: "succeeded" },
  "refund.partial-initiated": { ...partial, phase: "initiated" },
  "refund.partial-succeeded": { ...partial, phase: "succeeded" },
  "milestone.refund.full-initiated": { ...full, phase: "initiated" },
  "milestone.refund.full-succeeded": { ...full, phase: "succeeded" },
};

/**
 * Pairs the two webhooks of a refund by contract and `transactionId` (§6.4), never by amount: two refunds of one
 * size are two refunds. Either webhook may come first, or never; the state is the furthest seen.
 */
export function recordRefund(draft: Draft, origin: Origin, facts: EventFacts, phase: RefundPhase): void {
  if (facts.transactionId === null) {
    noteAnomaly(
      draft,
      origin,
      "refund-without-id",
      facts.milestoneId,
      `${facts.event} names no transactionId`,
    );
    return;
  }
  const known = draft.refunds.get(facts.transactionId);
  const refund = mergeRefund(known ?? blankRefund(draft, facts, phase), origin, facts, phase);
  draft.refunds.set(refund.refundId, refund);
}

/**
 * The refund that is already under way for the target of this one, if any: not succeeded, of the same kind, and its
 * target still RefundInProgress before this event moves it (§4.4: one active refund of a type per target).
 */
export function overlappingRefund(
  draft: Draft,
  facts: EventFacts,
  phase: RefundPhase,
): RefundRecord | undefined {
  if (phase.phase !== "initiated" || facts.transactionId === null) return undefined;
  return activeRefunds(draft, facts.milestoneId, scopeOf(facts))
    .filter((refund) => refund.kind === phase.kind && refund.refundId !== facts.transactionId)
    .reduce<RefundRecord | undefined>(lowerId, undefined);
}

/** Of several the one with the lowest id: the order in which a store gives them back is nothing to go by. */
function lowerId(lowest: RefundRecord | undefined, refund: RefundRecord): RefundRecord {
  return lowest === undefined || refund.refundId < lowest.refundId ? refund : lowest;
}

/** The refunds of one target that have not succeeded while the target is RefundInProgress. */
export function activeRefunds(
  draft: Draft,
  milestoneId: string | null,
  scope: RefundRecord["scope"],
): RefundRecord[] {
  if (draft.refunds.size === 0) return [];
  if (standingOf(draft, scope === "contract" ? null : milestoneId).status !== "RefundInProgress") return [];
  return [...draft.refunds.values()].filter(
    (refund) => refund.state !== "succeeded" && refund.scope === scope && refund.milestoneId === milestoneId,
  );
}

function scopeOf(facts: EventFacts): RefundRecord["scope"] {
  return facts.milestoneId !== null || facts.event.startsWith("milestone.") ? "milestone" : "contract";
}

function blankRefund(draft: Draft, facts: EventFacts, phase: RefundPhase): RefundRecord {
  return {
    contractId: draft.contract.contractId,
    refundId: facts.transactionId ?? "",
    milestoneId: facts.milestoneId,
    scope: scopeOf(facts),
    kind: phase.kind,
    state: phase.phase,
    inferred: false,
    amountMinor: null,
    currency: facts.currency,
    requestedAt: null,
    initiatedAt: null,
    succeededAt: null,
  };
}

function mergeRefund(
  known: RefundRecord,
  origin: Origin,
  facts: EventFacts,
  phase: RefundPhase,
): RefundRecord {
  const succeeded = phase.phase === "succeeded";
  return {
    ...known,
    milestoneId: known.milestoneId ?? facts.milestoneId,
    scope: known.scope === "milestone" ? "milestone" : scopeOf(facts),
    state: succeeded || known.state === "succeeded" ? "succeeded" : "initiated",
    inferred: known.inferred && !succeeded,
    amountMinor: facts.amountMinor ?? known.amountMinor,
    currency: facts.currency,
    ...(succeeded
      ? { succeededAt: known.succeededAt ?? origin.occurredAt }
      : { initiatedAt: known.initiatedAt ?? origin.occurredAt }),
  };
}
