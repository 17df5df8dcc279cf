import type { SnapshotFacts, SnapshotMilestone } from "../events/snapshot.ts";
import { groupBy } from "../shared/group-by.ts";
import { orderKeyOf, parseWireTime } from "../shared/wire-time.ts";
import { contractMachine } from "./contract.ts";
import { decideSnapshot } from "./decide.ts";
import { milestoneOf, noteAnomaly, standingOf, recordMove, type Draft, type Origin } from "./draft.ts";
import type { SnapshotInput } from "./input.ts";
import { knowsForm, putMilestone } from "./lookups.ts";
import type { Machine } from "./machine.ts";
import { milestoneMachine } from "./milestone.ts";
import { settleRequests } from "./own-refund.ts";
import { endsRefund, inferSuccess } from "./refund.ts";
import { canonicalStatus } from "./status.ts";

/** Folds in an API answer: it sets what it shows, clears what it shows as null, and leaves the rest (semantics §5.8). */
export function applySnapshot(draft: Draft, input: SnapshotInput, origin: Origin, skewMs: number): void {
  const { facts } = input;
  const reading: SnapshotReading = { facts, origin, skewMs };
  Object.assign(draft.contract, facts.fields);
  describe(draft, input);
  showStatus(draft, reading, contractMachine, null, facts.status);
  const links = linkMilestones(draft, facts.milestones);
  for (const shown of facts.milestones) showMilestone(draft, reading, shown, links.get(shown));
  const statuses = statusesShown(facts, links);
  settleRequests(draft, facts.orderKey, skewMs, (milestoneId) => statuses.get(milestoneId));
}

/** Of the contract under `null`, of milestones under the ids that the webhooks use. */
function statusesShown(
  { status, milestones }: SnapshotFacts,
  links: ReadonlyMap<SnapshotMilestone, string>,
): Map<string | null, string> {
  const statuses = new Map<string | null, string>();
  if (status !== null) statuses.set(null, canonicalStatus(contractMachine, status));
  for (const shown of milestones) {
    const milestoneId = links.get(shown);
    if (milestoneId !== undefined && shown.status !== null)
      statuses.set(milestoneId, canonicalStatus(milestoneMachine, shown.status));
  }
  return statuses;
}

/**
 * Whether a milestone's id belongs to none of those known, though some are: the API may number milestones otherwise
 * than the webhooks do (§2.5), and ids of one form never mean an id of the other.
 */
export function isUnlinked(draft: Draft, milestoneId: string): boolean {
  if (draft.milestones.size === 0 || draft.milestones.has(milestoneId)) return false;
  return !knowsForm(draft, milestoneId);
}

interface SnapshotReading {
  readonly facts: SnapshotFacts;
  readonly origin: Origin;
  readonly skewMs: number;
}

function describe(draft: Draft, input: SnapshotInput): void {
  const { contract } = draft;
  const { createdAt, updatedAt } = input.facts;
  if (createdAt !== null) contract.createdAt = createdAt;
  if (updatedAt !== null && orderKeyOf(updatedAt) > orderKeyOf(contract.updatedAt))
    contract.updatedAt = updatedAt;
  if (contract.syncedAt === null || input.receivedAt > contract.syncedAt)
    contract.syncedAt = input.receivedAt;
}

function showStatus(
  draft: Draft,
  reading: SnapshotReading,
  machine: Machine,
  milestoneId: string | null,
  status: string | null,
): void {
  // Without any time it only fills fields.
  if (status === null || reading.origin.orderKey === "") return;
  const next = canonicalStatus(machine, status);
  const standing = standingOf(draft, milestoneId);
  if (standing.status === next) return;
  const { origin, facts } = reading;
  const updatedKey = facts.updatedAt === null ? null : orderKeyOf(facts.updatedAt);
  const claim = { next, orderKey: origin.orderKey, updatedKey };
  const decision = decideSnapshot(machine, standing, claim, reading.skewMs);
  recordMove(draft, origin, { machine, milestoneId, next, prev: null, derived: false }, decision);
  if (decision.moved && endsRefund(next)) inferSuccess(draft, milestoneId, standing);
}

function showMilestone(
  draft: Draft,
  reading: SnapshotReading,
  shown: SnapshotMilestone,
  milestoneId: string | undefined,
): void {
  if (milestoneId === undefined) {
    const detail =
      "its id in the API is not one of the webhooks' ids, and name, due date and amount do not show which milestone it is";
    noteAnomaly(draft, reading.origin, "milestone-unlinked", shown.milestoneId, detail);
    return;
  }
  const { milestoneId: _, status, ...fields } = shown;
  putMilestone(draft, { ...milestoneOf(draft, milestoneId), ...fields });
  showStatus(draft, reading, milestoneMachine, milestoneId, status);
}

/** Which known or new milestone each shown one is; none for one that can't be told. */
function linkMilestones(draft: Draft, shown: readonly SnapshotMilestone[]): Map<SnapshotMilestone, string> {
  const links = new Map<SnapshotMilestone, string>();
  const ids = new Set(shown.map(({ milestoneId }) => milestoneId));
  const others = [...draft.milestones.values()].filter(({ milestoneId }) => !ids.has(milestoneId));
  // A redaction took the names: due date and amount tell as far as they are unique.
  const keyOf = (each: Described): string | undefined =>
    descriptionKey(draft.contract.redactedAt === null ? each : { ...each, name: "" });
  const [shownBy, othersBy] = [groupBy(shown, keyOf), groupBy(others, keyOf)];
  /** The one milestone known under another id that has this one's name, due date and amount. */
  const twinOf = (milestone: SnapshotMilestone): string | undefined => {
    const key = keyOf(milestone);
    const twins = key === undefined || shownBy.get(key)?.length !== 1 ? [] : (othersBy.get(key) ?? []);
    return twins.length === 1 ? twins[0]?.milestoneId : undefined;
  };
  for (const milestone of shown) {
    const { milestoneId } = milestone;
    const known = draft.milestones.has(milestoneId) ? milestoneId : twinOf(milestone);
    if (known !== undefined) links.set(milestone, known);
    else if (!isUnlinked(draft, milestoneId)) links.set(milestone, milestoneId);
  }
  return links;
}

type Described = Pick<SnapshotMilestone, "name" | "dueDate" | "amountMinor">;

function descriptionKey({ name, dueDate, amountMinor }: Described): string | undefined {
  if (name == null || dueDate == null || amountMinor == null) return undefined;
  return JSON.stringify([name, parseWireTime(dueDate)?.orderKey ?? dueDate, amountMinor]);
}
