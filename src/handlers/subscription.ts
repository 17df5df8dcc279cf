/** Filters of handlers, and the jobs that they get from a commit. Pure. */
import { createHash } from "node:crypto";
import type { NewJob } from "../store/queue.ts";
import type { SubscriptionRow } from "../store/tables/handlers.ts";
import type { Anomaly, Transition } from "../queries/shapes.ts";

/** Event types, `"*"` for every webhook event, `"anomaly"`, or `"job-dead"`. */
export interface EventFilter {
  /** The event types. */
  readonly events: readonly string[];
}

/** Moves of a contract or a milestone, from and to any of these statuses. Absent: any. */
export interface TransitionFilter {
  /** Whose moves: a contract's or a milestone's. */
  readonly entity: "contract" | "milestone";
  /** The statuses before the move. */
  readonly from?: readonly string[];
  /** The statuses after the move. */
  readonly to?: readonly string[];
}

/** The events or moves that a handler listens to. */
export type Filter = EventFilter | TransitionFilter;

export interface Subscription extends SubscriptionRow {
  readonly filter: Filter;
}

/** The news of one commit, or of one page of older deliveries. */
export interface News {
  readonly deliveries: readonly AppliedDelivery[];
  readonly moves: readonly Move[];
  readonly anomalies: readonly Anomaly[];
}

export interface AppliedDelivery {
  readonly contentKey: string;
  readonly webhookId: string;
  readonly event: string;
  readonly contractId: string | null;
}

/** A move of the mirror's present state, and the input that caused it. */
export interface Move {
  /** The delivery's content key, or the digest of an API answer. */
  readonly inputKey: string;
  readonly contentKey: string | null;
  /** Whether the history shows it for a delivery. */
  readonly byDelivery: boolean;
  readonly transition: Transition;
}

/** The jobs for the handlers of `subscriptions`, in order of arrival. */
export function jobsFor(subscriptions: readonly Subscription[], news: News): NewJob[] {
  return subscriptions.flatMap((subscription) => jobsOf(subscription, news));
}

function jobsOf({ name, filter }: Subscription, news: News): NewJob[] {
  if ("entity" in filter)
    return news.moves
      .filter(({ transition }) => isMoveOf(filter, transition))
      .map((move) => moveJob(name, move));
  return [
    ...news.deliveries.filter((each) => hears(filter, each)).map((each) => eventJob(name, each)),
    ...(filter.events.includes("anomaly") ? news.anomalies.map((each) => anomalyJob(name, each)) : []),
  ];
}

/** Whether a handler of events gets this delivery. */
export function hears({ events }: EventFilter, { event }: Pick<AppliedDelivery, "event">): boolean {
  return events.includes("*") || events.includes(event);
}

export function isMoveOf({ entity, from, to }: TransitionFilter, transition: Transition): boolean {
  if (transition.entity !== entity) return false;
  const isFrom = from === undefined || from.includes(transition.from ?? "");
  return isFrom && (to === undefined || to.includes(transition.to));
}

/** @param again makes the key of a replay differ from the first */
export function eventJob(handler: string, delivery: AppliedDelivery, again = ""): NewJob {
  const { contentKey, webhookId, contractId } = delivery;
  return { handler, contractId, jobKey: contentKey + again, contentKey, webhookId, payload: null };
}

function moveJob(handler: string, { inputKey, contentKey, transition }: Move): NewJob {
  const { contractId, milestoneId, webhookId } = transition;
  const jobKey = milestoneId === null ? inputKey : `${inputKey} ${hashOf(milestoneId)}`;
  return { handler, contractId, jobKey, contentKey, webhookId, payload: transition };
}

const everPrefix = "anomaly ";

/**
 * Whether the job's row stays for ever. Each refold finds an anomaly again, and the row shows that its handler got it. All
 * other facts are committed once.
 */
export function isOncePerEver(jobKey: string): boolean {
  return jobKey.startsWith(everPrefix);
}

/** Only one job for each contract, kind and detail, for ever. */
function anomalyJob(handler: string, anomaly: Anomaly): NewJob {
  const { contractId, webhookId } = anomaly;
  const jobKey = anomalyKey(anomaly);
  return { handler, contractId, jobKey, contentKey: null, webhookId, payload: anomaly };
}

export function anomalyKey({
  contractId,
  kind,
  detail,
}: Pick<Anomaly, "contractId" | "kind" | "detail">): string {
  return `${everPrefix}${hashOf(JSON.stringify([contractId, kind, detail]))}`;
}

/** So keys have a bounded length, however long the ids are. */
function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
