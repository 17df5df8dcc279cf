import type { EventFacts } from "../events/event.ts";
import { parseWireTime } from "../shared/wire-time.ts";
import type { Standing } from "./decide.ts";
import { noteAnomaly, standingOf, type Draft, type Origin } from "./draft.ts";
import { putRefund, requestedRefunds, unfinishedRefunds, type RefundTarget } from "./lookups.ts";
import { takeRequested } from "./own-refund.ts";
import type { RefundRecord } from "./records.ts";

/** A refund event's claim about its refund, by its type alone. */
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
 *
 * @returns the refund; `undefined` where the event enters none: it has no id, or one that is another refund's
 */
export function recordRefund(
  draft: Draft,
  origin: Origin,
  facts: EventFacts,
  phase: RefundPhase,
): RefundRecord | undefined {
  const { event, transactionId, milestoneId } = facts;
  if (transactionId === null) {
    noteAnomaly(draft, origin, "refund-without-id", milestoneId, `${event} names no transactionId`);
    return undefined;
  }
  const known = draft.refunds.get(transactionId) ?? beginRefund(draft, facts, transactionId, phase);
  if (contradicts(known, facts, phase)) {
    const detail = `${event} names refund ${transactionId}, which is ${describe(known)}`;
    noteAnomaly(draft, origin, "refund-id-shared", milestoneId, detail);
    return undefined;
  }
  const refund = mergeRefund(known, origin, facts, phase);
  putRefund(draft, refund);
  return refund;
}

/**
 * A refund that begins while another of its kind is under way for its target: not succeeded, and the target still
 * RefundInProgress before this event moves it (§4.4: one active refund of a type per target).
 *
 * @returns what the other is called, `undefined` where there is none
 */
export function overlappedBy(draft: Draft, facts: EventFacts, phase: RefundPhase): string | undefined {
  const { transactionId } = facts;
  const target = targetOf(facts);
  if (phase.phase !== "initiated" || transactionId === null || !isInProgress(draft, target)) return undefined;
  const active = unfinishedRefunds(draft, phase.kind, target);
  const others = active.size - (active.has(transactionId) ? 1 : 0);
  if (others > 1) return `${others} others are`;
  const other = [...active].find((id) => id !== transactionId);
  return other === undefined ? undefined : `refund ${other} is`;
}

/** Whether a move may end a refund that was under way. */
export function endsRefund(next: string): boolean {
  return next === "Refunded";
}

/**
 * The target is Refunded now, and no event of a refund of its own said so: the only full refund that was under way for it
 * has succeeded, whether or not its own event ever comes (semantics §6). A refund that began before the target went
 * RefundInProgress is one that it has left behind. Of one that we asked for, the target need not have been seen RefundInProgress.
 *
 * @param was where the target stood before
 */
export function inferSuccess(draft: Draft, milestoneId: string | null, was: Standing): void {
  const target: RefundTarget = { scope: milestoneId === null ? "contract" : "milestone", milestoneId };
  const active = [...unfinishedRefunds(draft, "full", target), ...requestedRefunds(draft, "full", target)];
  const refund = draft.refunds.get(active[0] ?? "");
  if (active.length !== 1 || refund === undefined || isOlder(refund, was.statusKey)) return;
  if (was.status !== "RefundInProgress" && !isOnlyAsked(refund)) return;
  putRefund(draft, { ...refund, state: "succeeded", inferred: true });
}

/** No webhook has told of it. */
function isOnlyAsked({ requestedAt, initiatedAt }: RefundRecord): boolean {
  return requestedAt !== null && initiatedAt === null;
}

function isOlder({ initiatedAt }: RefundRecord, key: string): boolean {
  const began = initiatedAt === null ? undefined : parseWireTime(initiatedAt);
  return began !== undefined && began.orderKey < key;
}

/** Whether a refund is the contract's (`null`) or this milestone's. */
export function isRefundOf({ scope, milestoneId }: RefundTarget, target: string | null): boolean {
  return target === null ? scope === "contract" : milestoneId === target;
}

function targetOf({ event, milestoneId }: EventFacts): RefundTarget {
  const isMilestones = milestoneId !== null || event.startsWith("milestone.");
  return { scope: isMilestones ? "milestone" : "contract", milestoneId };
}

function isInProgress(draft: Draft, { scope, milestoneId }: RefundTarget): boolean {
  if (scope === "milestone" && milestoneId === null) return false;
  return standingOf(draft, milestoneId).status === "RefundInProgress";
}

/** Of another kind or target than what is known under its id. A milestone that is not named yet contradicts none. */
function contradicts(known: RefundRecord, facts: EventFacts, { kind }: RefundPhase): boolean {
  const { scope, milestoneId } = targetOf(facts);
  if (known.kind !== kind || known.scope !== scope) return true;
  return known.milestoneId !== null && milestoneId !== null && known.milestoneId !== milestoneId;
}

function describe({ kind, scope, milestoneId }: RefundRecord): string {
  if (scope === "contract") return `a ${kind} one of the contract`;
  return `a ${kind} one of ${milestoneId === null ? "a milestone" : `milestone ${milestoneId}`}`;
}

/** The one that we asked for, or one that others did. */
function beginRefund(draft: Draft, facts: EventFacts, refundId: string, phase: RefundPhase): RefundRecord {
  return (
    takeRequested(draft, phase.kind, targetOf(facts), refundId) ?? blankRefund(draft, facts, refundId, phase)
  );
}

function blankRefund(draft: Draft, facts: EventFacts, refundId: string, phase: RefundPhase): RefundRecord {
  return {
    contractId: draft.contract.contractId,
    refundKey: refundId,
    refundId,
    ...targetOf(facts),
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
    state: succeeded || known.state === "succeeded" ? "succeeded" : "initiated",
    inferred: known.inferred && !succeeded,
    amountMinor: facts.amountMinor ?? known.amountMinor,
    currency: facts.currency,
    ...(succeeded
      ? { succeededAt: known.succeededAt ?? origin.at }
      : { initiatedAt: known.initiatedAt ?? origin.at }),
  };
}
