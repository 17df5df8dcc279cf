/**
 * Answers a fold's questions about all milestones or refunds of a contract without a walk over them: for thousands of
 * inputs, walks would cost the square. Built at the first question, then kept up to date.
 */
import type { Draft } from "./draft.ts";
import type { MilestoneRecord, RefundRecord } from "./records.ts";

export interface Lookups {
  /** The forms of the milestones' ids. */
  milestoneForms?: Set<IdForm>;
  /** Ids of the refunds that have not succeeded, by kind and target. */
  unfinished?: Map<string, Set<string>>;
}

/** The target of a refund: the contract, or a milestone; `null` for one that no event has named yet. */
export type RefundTarget = Pick<RefundRecord, "scope" | "milestoneId">;

/** Ids of the API and of the webhooks may differ in form (§2.5), and ids of one form never mean one of the other. */
type IdForm = "number" | "other";

export function putMilestone(draft: Draft, milestone: MilestoneRecord): void {
  draft.milestones.set(milestone.milestoneId, milestone);
  draft.lookups.milestoneForms?.add(formOf(milestone.milestoneId));
}

/** Whether any milestone is known whose id has the form of this one. */
export function knowsForm(draft: Draft, milestoneId: string): boolean {
  draft.lookups.milestoneForms ??= new Set([...draft.milestones.keys()].map(formOf));
  return draft.lookups.milestoneForms.has(formOf(milestoneId));
}

export function putRefund(draft: Draft, refund: RefundRecord): void {
  const { lookups, refunds } = draft;
  const known = refunds.get(refund.refundId);
  if (known !== undefined) lookups.unfinished?.get(placeOf(known.kind, known))?.delete(refund.refundId);
  refunds.set(refund.refundId, refund);
  if (lookups.unfinished !== undefined) enter(lookups.unfinished, refund);
}

/** The refunds of one kind and target that have not succeeded. */
export function unfinishedRefunds(
  draft: Draft,
  kind: RefundRecord["kind"],
  target: RefundTarget,
): ReadonlySet<string> {
  draft.lookups.unfinished ??= enterAll(draft.refunds.values());
  return draft.lookups.unfinished.get(placeOf(kind, target)) ?? none;
}

const none: ReadonlySet<string> = new Set();

function enterAll(refunds: Iterable<RefundRecord>): Map<string, Set<string>> {
  const places = new Map<string, Set<string>>();
  for (const refund of refunds) enter(places, refund);
  return places;
}

function enter(places: Map<string, Set<string>>, refund: RefundRecord): void {
  if (refund.state === "succeeded") return;
  const place = placeOf(refund.kind, refund);
  const ids = places.get(place) ?? new Set();
  places.set(place, ids.add(refund.refundId));
}

function placeOf(kind: RefundRecord["kind"], { scope, milestoneId }: RefundTarget): string {
  return `${kind} ${scope} ${milestoneId ?? ""}`;
}

function formOf(id: string): IdForm {
  return /^\d+$/.test(id) ? "number" : "other";
}
