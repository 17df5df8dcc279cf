import type { History, SentEvent } from "./history.ts";
import type { ContractLife, LifeMove } from "./life.ts";
import type { Arrived, StorySchedule } from "./schedule.ts";
import type { ScheduledSnapshot } from "./snapshot-plan.ts";

/** A schedule as a story: what happened, then what arrived, batch by batch. */
export function toTimeline({ histories, batches, distinct }: StorySchedule): string {
  const heard = new Set(distinct.flatMap((arrival) => (arrival.kind === "event" ? [arrival.sent] : [])));
  const told = histories.flatMap((each) => tellHistory(each, heard));
  const arrived = batches.map((batch, index) => `  ${index + 1}. ${batch.map(tellArrived).join(" | ")}`);
  return ["", "what happened", ...told, "what arrived (one line is one batch)", ...arrived, ""].join("\n");
}

/** A life as a story: what happened, event by event. */
export function tellStory({ contractId, edition, milestoneIds, events }: ContractLife): string {
  const told = events.map(({ event, moves }) => `    ${event}: ${moves.map(tellMove).join(", ")}`);
  const about = `  ${contractId}, ${edition} edition, milestones ${milestoneIds.join(", ") || "none"}`;
  return ["", about, ...told, ""].join("\n");
}

function tellHistory({ life, sent }: History, heard: ReadonlySet<SentEvent>): string[] {
  const about = `  ${life.contractId}, ${life.edition} edition, milestones ${life.milestoneIds.join(", ") || "none"}`;
  return [
    about,
    ...sent.map((each) => `  ${heard.has(each) ? " " : "✗"} ${tellSent(each)}\n      ${each.body}`),
  ];
}

function tellSent({ occurredAt, event, payloadId }: SentEvent): string {
  const moves = event.moves.map(tellMove).join(", ");
  return `${occurredAt} ${event.event} (${payloadId.slice(0, 8)}): ${moves}`;
}

function tellMove({ milestoneId, from, to }: LifeMove): string {
  return `${milestoneId === null ? "contract" : `milestone ${milestoneId}`} ${from ?? "·"} → ${to}`;
}

function tellArrived({ arrival, webhookId, atMs }: Arrived): string {
  if (arrival.kind === "snapshot") return tellSnapshot(arrival);
  const { event, payloadId } = arrival.sent;
  const fresh = webhookId.startsWith("fresh-") ? " under a fresh id" : "";
  const late = atMs === arrival.firstMs ? "" : `, ${atMs - arrival.firstMs} ms after its first copy`;
  return `${event.event} (${payloadId.slice(0, 8)})${fresh}${late}`;
}

function tellSnapshot({ facts }: ScheduledSnapshot): string {
  return `API read ${JSON.stringify(facts)}`;
}
