/**
 * Refunds that we asked for ourselves. A request stands as a refund without an id, until the answer or a webhook names it, or an API
 * read shows that the service never took it (semantics §6).
 */
import type { AnswerFacts, RefundRequestFacts } from "../events/own-call.ts";
import { millisecondsBetween, orderKeyOf, parseWireTime } from "../shared/wire-time.ts";
import { noteAnomaly, standingOf, type Draft, type Origin } from "./draft.ts";
import {
  putRefund,
  removeRefund,
  requestedRefunds,
  unfinishedRefunds,
  type RefundTarget,
} from "./lookups.ts";
import { compareText } from "./order.ts";
import type { RefundRecord } from "./records.ts";

/** The key of a refund that has no id yet. */
export function requestKeyOf(intentId: string): string {
  return `requested:${intentId}`;
}

/** The intent of a refund that has no id yet. */
export function intentIdOf(refundKey: string): string {
  return refundKey.slice(requestKeyOf("").length);
}

/** The request that an event of an unknown refund answers, under its new key; it no longer stands by itself. */
export function takeRequested(
  draft: Draft,
  kind: RefundRecord["kind"],
  target: RefundTarget,
  refundId: string,
): RefundRecord | undefined {
  const [first] = recordsOf(draft, requestedRefunds(draft, kind, target), ({ requestedAt }) => requestedAt);
  return first && rename(draft, first.refundKey, refundId);
}

/**
 * Our request. Its answer may have come first, where our clock was set back. A webhook may have told of the refund already, by
 * a clock that is behind ours.
 */
export function applyRequest(draft: Draft, facts: RefundRequestFacts, skewMs: number): void {
  if ([...draft.refunds.values()].some((refund) => isAskedBy(refund, facts, facts.takenAt))) return;
  const begun = unfinishedRefunds(draft, facts.refundKind, targetOf(facts));
  const known = recordsOf(draft, begun, ({ initiatedAt }) => initiatedAt).find((refund) =>
    isBegunAt(refund, facts.orderKey, skewMs),
  );
  putRefund(draft, { ...(known ?? blankOf(draft, facts)), requestedAt: facts.takenAt });
}

/** The answer to our request: it names the refund, or says that there is none. */
export function applyAnswer(draft: Draft, facts: AnswerFacts, origin: Origin): void {
  const { refundId } = facts;
  const key = requestKeyOf(facts.intentId);
  unmark(draft, facts);
  if (refundId === null) return removeRefund(draft, key);
  const known = draft.refunds.get(refundId);
  if (known !== undefined && isAnother(known, facts)) {
    const detail = `our request was answered with refund ${refundId}, which is of another kind or target`;
    noteAnomaly(draft, origin, "refund-id-shared", facts.milestoneId, detail);
    return removeRefund(draft, key);
  }
  const requested = rename(draft, key, refundId) ?? {
    ...blankOf(draft, facts),
    refundKey: refundId,
    refundId,
  };
  const refund = known ?? requested;
  putRefund(draft, {
    ...refund,
    state: refund.state === "succeeded" ? "succeeded" : "initiated",
    requestedAt: facts.requestedAt,
    amountMinor: refund.amountMinor ?? facts.amountMinor,
  });
}

/**
 * An API read, once its statuses are shown: of a target that is being refunded the request was taken; of one that stands as it
 * was, long enough after the request, it never was.
 *
 * @param shown the status that the read shows of a target, `undefined` for one that it does not show
 */
export function settleRequests(
  draft: Draft,
  orderKey: string,
  skewMs: number,
  shown: (milestoneId: string | null) => string | undefined,
): void {
  for (const refund of draft.refunds.values()) {
    if (refund.state !== "requested") continue;
    const status = shown(refund.milestoneId);
    if (status !== standingOf(draft, refund.milestoneId).status) continue;
    if (refunding.has(status)) putRefund(draft, { ...refund, state: "initiated" });
    else if (isLongAfter(refund.requestedAt, orderKey, skewMs)) removeRefund(draft, refund.refundKey);
  }
}

const refunding: ReadonlySet<string> = new Set(["RefundInProgress", "Refunded", "PartiallyRefunded"]);

function isLongAfter(requestedAt: string | null, orderKey: string, skewMs: number): boolean {
  return requestedAt !== null && millisecondsBetween(orderKeyOf(requestedAt), orderKey) > skewMs;
}

function rename(draft: Draft, key: string, refundId: string): RefundRecord | undefined {
  const requested = draft.refunds.get(key);
  if (requested === undefined) return undefined;
  removeRefund(draft, key);
  return { ...requested, refundKey: refundId, refundId };
}

/** A refund that was taken for the one that we asked for. The one that the answer names gets the time back. */
function unmark(draft: Draft, facts: AnswerFacts): void {
  for (const refund of draft.refunds.values())
    if (isAskedBy(refund, facts, facts.requestedAt)) putRefund(draft, { ...refund, requestedAt: null });
}

/** In an order that does not hang on how they were stored. */
function recordsOf(
  { refunds }: Draft,
  keys: Iterable<string>,
  timeOf: (refund: RefundRecord) => string | null,
): RefundRecord[] {
  const placeOf = (refund: RefundRecord): string => `${timeOf(refund) ?? ""} ${refund.refundKey}`;
  const records = [...keys].map((key) => refunds.get(key)).filter((refund) => refund !== undefined);
  return records.sort((a, b) => compareText(placeOf(a), placeOf(b)));
}

function isBegunAt({ initiatedAt, requestedAt }: RefundRecord, orderKey: string, skewMs: number): boolean {
  const began = parseWireTime(initiatedAt);
  if (began === undefined || requestedAt !== null) return false;
  return Math.abs(millisecondsBetween(began.orderKey, orderKey)) <= skewMs;
}

/** No two requests for one target stand at the same time, so kind, target and time tell whose refund it is. */
function isAskedBy(refund: RefundRecord, facts: RefundRequestFacts, requestedAt: string): boolean {
  return refund.requestedAt === requestedAt && !isAnother(refund, facts);
}

function isAnother(known: RefundRecord, facts: RefundRequestFacts): boolean {
  const { scope, milestoneId } = targetOf(facts);
  if (known.kind !== facts.refundKind || known.scope !== scope) return true;
  return known.milestoneId !== null && known.milestoneId !== milestoneId;
}

function targetOf({ milestoneId }: RefundRequestFacts): RefundTarget {
  return { scope: milestoneId === null ? "contract" : "milestone", milestoneId };
}

function blankOf(draft: Draft, facts: RefundRequestFacts): RefundRecord {
  return {
    contractId: draft.contract.contractId,
    refundKey: requestKeyOf(facts.intentId),
    refundId: null,
    ...targetOf(facts),
    kind: facts.refundKind,
    state: "requested",
    inferred: false,
    amountMinor: facts.amountMinor,
    currency: "SAR",
    requestedAt: null,
    initiatedAt: null,
    succeededAt: null,
  };
}
