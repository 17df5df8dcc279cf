import type { EventFacts } from "../events/event.ts";
import type { AnswerFacts, RequestFacts } from "../events/own-call.ts";
import type { SnapshotFacts } from "../events/snapshot.ts";

/** An input of the fold. The mirror is a pure function of the set of its inputs (semantics §1.4). */
export type FoldInput = EventInput | StoredInput;

/** An input that is no delivery. */
export type StoredInput = SnapshotInput | RequestInput | AnswerInput;

/** One applied delivery. */
export interface EventInput {
  readonly kind: "event";
  /** SHA-256 of the body in hex: what tells two deliveries of one moment apart. */
  readonly digest: string;
  readonly webhookId: string;
  /** When its first copy arrived, by our clock: ISO 8601. Shown where the event has no time of its own, never ordered by. */
  readonly receivedAt: string;
  readonly facts: EventFacts;
}

/** One API answer: a read, or the answer to our own create request. */
export interface SnapshotInput {
  readonly kind: "snapshot";
  readonly digest: string;
  /** When we took it, by our clock: ISO 8601. Shown as `syncedAt`, and where the answer has no time; never ordered by. */
  readonly receivedAt: string;
  readonly facts: SnapshotFacts;
}

/** Our own call of the API. */
export interface RequestInput {
  readonly kind: "request";
  readonly digest: string;
  /** When we made it, by our clock: ISO 8601. */
  readonly receivedAt: string;
  readonly facts: RequestFacts;
}

/** The answer to our own refund request. */
export interface AnswerInput {
  readonly kind: "answer";
  readonly digest: string;
  /** When we had it, by our clock: ISO 8601. */
  readonly receivedAt: string;
  readonly facts: AnswerFacts;
}

/** The families whose events move or create anything (semantics §5.3). */
export type EventFamily = "contract" | "payment" | "refund" | "milestone";

/** The family of an event type, `undefined` for one that the fold does not take in. */
export function familyOf(eventType: string): EventFamily | undefined {
  const dot = eventType.indexOf(".");
  if (dot === -1) return undefined;
  const prefix = eventType.slice(0, dot);
  return families.has(prefix) ? (prefix as EventFamily) : undefined;
}

const families: ReadonlySet<string> = new Set(["contract", "payment", "refund", "milestone"]);
