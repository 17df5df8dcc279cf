/**
 * Answers a fold's questions about all milestones or refunds of a contract without a walk over them: for thousands of
 * inputs, walks would cost the square. Built at the first question, then kept up to date.
 */
import type { Draft } from "./draft.ts";
import type { MilestoneRecord, RefundRecord } from "./records.ts";

export interface Lookups {
  /** The forms of the milestones' ids: whether there are numbers, and whether others. */
  milestoneForms?: Set<boolean>;
  /** Keys of the refunds that have not succeeded, by kind and target; those that have no id yet apart. */
  unfinished?: Map<string, Set<string>>;
}

/** The target of a refund: the contract, or a milestone; `null` for one that no event has named yet. */
export type RefundTarget = Pick<RefundRecord, "scope" | "milestoneId">;

export function putMilestone(draft: Draft, milestone: MilestoneRecord): void {
  draft.milestones.set(milestone.milestoneId, milestone);
  draft.lookups.milestoneForms?.add(isNumber(milestone.milestoneId));
}

/** Whether any milestone is known whose id has the form of this one. */
export function knowsForm(draft: Draft, milestoneId: string): boolean {
  draft.lookups.milestoneForms ??= new Set([...draft.milestones.keys()].map(isNumber));
  return draft.lookups.milestoneForms.has(isNumber(milestoneId));
}

export function putRefund(draft: Draft, refund: RefundRecord): void {
  const { lookups, refunds } = draft;
  const known = refunds.get(refund.refundKey);
  if (known !== undefined) lookups.unfinished?.get(placeOf(known))?.delete(refund.refundKey);
  refunds.set(refund.refundKey, refund);
  if (lookups.unfinished !== undefined) enter(lookups.unfinished, refund);
}

export function removeRefund({ lookups, refunds }: Draft, refundKey: string): void {
  const known = refunds.get(refundKey);
  if (known === undefined) return;
  lookups.unfinished?.get(placeOf(known))?.delete(refundKey);
  refunds.delete(refundKey);
}

/** The refunds of one kind and target that have an id and have not succeeded. */
export function unfinishedRefunds(
  draft: Draft,
  kind: RefundRecord["kind"],
  { scope, milestoneId }: RefundTarget,
): ReadonlySet<string> {
  return unfinishedAt(draft, placeOf({ kind, scope, milestoneId, refundId: "" }));
}

/** The same of those that have no id yet. */
export function requestedRefunds(
  draft: Draft,
  kind: RefundRecord["kind"],
  { scope, milestoneId }: RefundTarget,
): ReadonlySet<string> {
  return unfinishedAt(draft, placeOf({ kind, scope, milestoneId, refundId: null }));
}

function unfinishedAt(draft: Draft, place: string): ReadonlySet<string> {
  draft.lookups.unfinished ??= enterAll(draft.refunds.values());
  return draft.lookups.unfinished.get(place) ?? none;
}

const none: ReadonlySet<string> = new Set();

function enterAll(refunds: Iterable<RefundRecord>): Map<string, Set<string>> {
  const places = new Map<string, Set<string>>();
  for (const refund of refunds) enter(places, refund);
  return places;
}

function enter(places: Map<string, Set<string>>, refund: RefundRecord): void {
  if (refund.state === "succeeded") return;
  const place = placeOf(refund);
  const ids = places.get(place) ?? new Set();
  places.set(place, ids.add(refund.refundKey));
}

type RefundPlace = Pick<RefundRecord, "kind" | "scope" | "milestoneId" | "refundId">;

function placeOf({ kind, scope, milestoneId, refundId }: RefundPlace): string {
  return `${refundId === null ? "requested" : ""} ${kind} ${scope} ${milestoneId ?? ""}`;
}

/** Ids of the API and of the webhooks may differ in form (§2.5), and ids of one form never mean one of the other. */
function isNumber(id: string): boolean {
  return /^\d+$/.test(id);
}
