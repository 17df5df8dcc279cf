import { groupBy } from "../../shared/group-by.ts";
import { signBody } from "../../signature/sign.ts";
import type { Delivery } from "../delivery.ts";
import type { History, SentEvent } from "./history.ts";
import { planSnapshot, type ScheduledSnapshot, type SnapshotPlan } from "./snapshot-plan.ts";

/** The arrivals of one or more histories, in one order. A batch arrives at once. */
export interface StorySchedule {
  readonly histories: readonly History[];
  /** Everything that arrives, each once, in the order of the story. */
  readonly distinct: readonly ScheduledArrival[];
  readonly batches: readonly (readonly Arrived[])[];
}

export type ScheduledArrival = ScheduledEvent | ScheduledSnapshot;

/** An event that is not lost on the way. */
export interface ScheduledEvent {
  readonly kind: "event";
  readonly sent: SentEvent;
  /** When the first copy of it arrives, by the receiver's clock: milliseconds since 1970. */
  readonly firstMs: number;
}

/** One time that something arrives. */
export interface Arrived {
  readonly arrival: ScheduledArrival;
  /** The id in the header: the delivery's own, or a fresh one as a replay would bring it. */
  readonly webhookId: string;
  /** When it arrives. Things are brought in any order, as by processes that commit one before the other. */
  readonly atMs: number;
}

/** The order, the repeats and the batches of arrivals. If a list is too short, the rest arrives once, in order, one by one. */
export interface Arrangement {
  /** The arrival with the lower number comes first; those without one come before all others. */
  readonly order: readonly number[];
  readonly repeats: readonly { readonly of: number; readonly freshId: boolean }[];
  /** Which copy of each thing has the first arrival time. Default: the first copy. */
  readonly firstCopies: readonly number[];
  readonly batchSizes: readonly number[];
}

/** The same things in another arrangement. */
export function rearrange({ histories, distinct }: StorySchedule, arranged: Arrangement): StorySchedule {
  return { histories, distinct, batches: arrange(distinct, arranged) };
}

/** A delivery's headers and body, signed as the service signs (supplement). */
export function signArrived(
  { arrival, webhookId }: { readonly arrival: ScheduledEvent; readonly webhookId: string },
  secret: string,
): Delivery & { readonly body: string } {
  return signSent(arrival.sent, webhookId, secret);
}

/** One event as a delivery under `webhookId`. */
export function signSent(
  { event, body, occurredAt }: SentEvent,
  webhookId: string,
  secret: string,
): Delivery & { readonly body: string } {
  const headers = signBody({ secret, body, webhookId, event: event.event, timestamp: occurredAt });
  return { method: "POST", headers: { "Content-Type": "application/json", ...headers }, body };
}

/** The arrivals of some histories: `lost[i]` removes an event, `reads` adds API reads. */
export function toSchedule(
  histories: readonly History[],
  lost: readonly boolean[],
  reads: readonly SnapshotPlan[],
  arranged: Arrangement,
): StorySchedule {
  const events = histories
    .flatMap(({ sent }) => sent)
    .filter((_, index) => lost[index] !== true)
    .map((sent, index): ScheduledEvent => ({ kind: "event", sent, firstMs: startMs + index * gapMs }));
  const distinct = [...events, ...snapshotsOf(histories, reads)];
  return { histories, distinct, batches: arrange(distinct, arranged) };
}

function snapshotsOf(histories: readonly History[], reads: readonly SnapshotPlan[]): ScheduledSnapshot[] {
  const taken = reads.flatMap((plan, index) => {
    const read = histories[index % histories.length];
    return (read && planSnapshot(read, plan)) ?? [];
  });
  return [...new Map(taken.map((snapshot) => [snapshot.digest, snapshot])).values()];
}

/** Long after all that happens; more than two copies of one thing may be apart. */
const startMs = Date.UTC(2026, 10, 1);
const gapMs = 1000;

function arrange(distinct: readonly ScheduledArrival[], arranged: Arrangement): Arrived[][] {
  const { order, repeats, firstCopies, batchSizes } = arranged;
  const once = distinct.map((arrival) => ({ arrival, webhookId: ownId(arrival) }));
  const again = repeats.flatMap(({ of, freshId }, index) => {
    const arrival = distinct[of % distinct.length];
    if (arrival === undefined) return [];
    return { arrival, webhookId: freshId ? `fresh-${index}-${ownId(arrival)}` : ownId(arrival) };
  });
  const keyed = [...once, ...again].map((copy, index) => ({ copy, key: order[index] ?? -1 }));
  const sorted = keyed.sort((a, b) => a.key - b.key).map(({ copy }) => copy);
  return cut(giveTimes(sorted, firstCopies), batchSizes);
}

type Copy = Omit<Arrived, "atMs">;

/** One copy of each thing has its first arrival time, wherever it stands. The others have later times, in their order. */
function giveTimes(copies: readonly Copy[], firstCopies: readonly number[]): Arrived[] {
  const all = groupBy(copies, ({ arrival }) => arrival);
  const firsts = new Set(
    [...all.values()].map((same, index) => same[(firstCopies[index] ?? 0) % same.length]),
  );
  return copies.map((copy) => {
    const { arrival } = copy;
    const late = firsts.has(copy) ? 0 : 1 + (all.get(arrival)?.indexOf(copy) ?? 0);
    return { ...copy, atMs: (arrival.kind === "event" ? arrival.firstMs : startMs) + late };
  });
}

function cut<Item>(items: readonly Item[], sizes: readonly number[]): Item[][] {
  const batches: Item[][] = [];
  for (let start = 0; start < items.length; start += batches.at(-1)?.length ?? 1)
    batches.push(items.slice(start, start + (sizes[batches.length] ?? 1)));
  return batches;
}

function ownId(arrival: ScheduledArrival): string {
  return arrival.kind === "event" ? `wh-${arrival.sent.payloadId}` : arrival.digest;
}
