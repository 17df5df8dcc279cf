import type { EventFacts } from "../events/event.ts";
import type { AnswerFacts, RequestFacts } from "../events/own-call.ts";
import type { SnapshotFacts, SnapshotFields } from "../events/snapshot.ts";

/** An input of the fold. The mirror is a pure function of the set of its inputs (semantics §1.4). */
export type FoldInput = EventInput | StoredInput;

/** An input that is no delivery. */
export type StoredInput = SnapshotInput | RequestInput | AnswerInput | RedactionInput;

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

/** The contract's personal data is erased: from all inputs, those that come later too. */
export interface RedactionInput {
  readonly kind: "redaction";
  readonly digest: string;
  /** When it was asked for, by our clock: ISO 8601. */
  readonly receivedAt: string;
  readonly facts: RedactionFacts;
}

/** It has no place in time. */
export interface RedactionFacts {
  readonly contractId: string;
  readonly orderKey: "";
  readonly takenAt: null;
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

/*
 * Redaction takes these out of the inputs of a contract. Ids, statuses, times and amounts stay: dedupe and the fold need them. It
 * holds for every input of its contract, whenever that came, so that the fold is the same in any order.
 */

/** The time of the redaction among these inputs, if there is one. */
export function redactionIn(inputs: readonly FoldInput[]): string | null {
  return inputs.find(isRedaction)?.receivedAt ?? null;
}

export function isRedaction(input: FoldInput): input is RedactionInput {
  return input.kind === "redaction";
}

/** The same input without what a person may be known by. */
export function redactInput<Input extends FoldInput>(input: Input): Input {
  return { ...input, facts: redactFacts(input) };
}

function redactFacts(input: FoldInput): FoldInput["facts"] {
  switch (input.kind) {
    case "event":
      return redactEvent(input.facts);
    case "snapshot":
      return redactSnapshot(input.facts);
    case "request":
      return input.facts.of === "create"
        ? { ...input.facts, fields: redactFields(input.facts.fields) }
        : input.facts;
    case "answer":
    case "redaction":
      return input.facts;
  }
}

export function redactEvent(facts: EventFacts): EventFacts {
  return { ...facts, reference: null, metadata: {} };
}

function redactSnapshot(facts: SnapshotFacts): SnapshotFacts {
  const milestones = facts.milestones.map(({ name: _, description: __, ...rest }) => rest);
  return { ...facts, fields: redactFields(facts.fields), milestones };
}

/** All of them describe, but for the amount. */
export function redactFields({ amountMinor }: SnapshotFields): SnapshotFields {
  return amountMinor === undefined ? {} : { amountMinor };
}
