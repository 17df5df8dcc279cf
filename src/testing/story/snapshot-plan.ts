import { hash } from "node:crypto";
import type { SnapshotFacts, SnapshotMilestone } from "../../events/snapshot.ts";
import type { History, SentEvent } from "./history.ts";
import type { ContractLife, ServiceStanding } from "./life.ts";
import { atTick, secondOf, ticksPerSecond } from "./ticks.ts";

/** An API read between the webhooks. */
export interface ScheduledSnapshot {
  readonly kind: "snapshot";
  readonly digest: string;
  readonly receivedAt: string;
  readonly facts: SnapshotFacts;
}

/** When the service is read, and what its answer is like. */
export interface SnapshotPlan {
  /** How much of the story the answer knows. */
  readonly after: number;
  /** How much later its `Date` is. Negative: the clock that wrote it is behind. */
  readonly delayTicks: number;
  readonly time: "stamped" | "none";
  /** The time of the contract's last change in the answer. */
  readonly updated: "last" | "missing" | "long-ago";
  readonly descriptive: "full" | "missing" | "null";
  /** Milestones under the webhooks' ids, under ids of the API's own (§2.5), or left out. */
  readonly milestones: "same-ids" | "own-ids" | "missing";
}

/** The answer of that read; `undefined` if the story has no events. */
export function planSnapshot({ life, sent }: History, plan: SnapshotPlan): ScheduledSnapshot | undefined {
  const place = plan.after % Math.max(1, sent.length);
  const [last, standing] = [sent[place], life.standings[place]];
  if (last === undefined || standing === undefined) return undefined;
  const facts = factsOf(life, standing, last, plan);
  const digest = hash("sha256", JSON.stringify(facts), "hex");
  return { kind: "snapshot", digest, receivedAt: atTick(last.ticks), facts };
}

/** The key is floored to the second (semantics §5.8). */
function factsOf(
  life: ContractLife,
  standing: ServiceStanding,
  last: SentEvent,
  plan: SnapshotPlan,
): SnapshotFacts {
  const second = new Date(secondOf(last.ticks + plan.delayTicks)).toISOString().slice(0, 19);
  const stamped = plan.time === "stamped";
  return {
    origin: "read",
    contractId: life.contractId,
    orderKey: stamped ? `${second}.000000000` : "",
    takenAt: stamped ? `${second}Z` : null,
    status: standing.status,
    updatedAt: updatedAt(last, plan),
    createdAt: null,
    fields: fieldsOf(life, plan),
    milestones: plan.milestones === "missing" ? [] : milestonesOf(life, standing, plan),
  };
}

function updatedAt({ ticks, occurredAt }: SentEvent, { updated }: SnapshotPlan): string | null {
  if (updated === "missing") return null;
  return updated === "last" ? occurredAt : atTick(ticks - 600 * ticksPerSecond);
}

function fieldsOf(
  { reference, truth }: ContractLife,
  { descriptive }: SnapshotPlan,
): SnapshotFacts["fields"] {
  if (descriptive === "missing") return {};
  if (descriptive === "null") return { reference: null, title: null, metadata1: null, buyer: null };
  const buyer = { platformRefId: "P-1", firstName: "A", lastName: "", phoneNumber: "+966500000000" };
  return { reference, title: "A title", amountMinor: truth.amountMinor, metadata3: "from the API", buyer };
}

function milestonesOf(
  { milestoneIds }: ContractLife,
  { milestones }: ServiceStanding,
  plan: SnapshotPlan,
): SnapshotMilestone[] {
  return milestoneIds.map((id, index) => ({
    milestoneId: plan.milestones === "same-ids" ? id : apiIdOf(id, index),
    status: milestones.get(id) ?? "pending",
    name: `Part ${index + 1}`,
    dueDate: `2026-0${index + 3}-01T00:00:00Z`,
    ...(plan.descriptive === "missing" ? {} : { amountMinor: 1000 * (index + 1) }),
  }));
}

/** Numbers where the webhooks have GUIDs, GUIDs where they have numbers. */
function apiIdOf(id: string, index: number): string {
  return id.includes("-") ? String(700 + index) : `1f0c3b7e-93c2-4b0e-8d4e-00000000000${index}`;
}
