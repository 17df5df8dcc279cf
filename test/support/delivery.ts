/** What tests of the engine send and fold: events built field by field, signed as the service signs them. */
import { createHash } from "node:crypto";
import deliveries from "../fixtures/deliveries.json" with { type: "json" };
import { parseEvent } from "../../src/events/parse.ts";
import type { EventFacts } from "../../src/events/event.ts";
import type { SnapshotFacts, SnapshotFields, SnapshotMilestone } from "../../src/events/snapshot.ts";
import type { EventInput, FoldInput, SnapshotInput } from "../../src/domain/input.ts";
import { fold } from "../../src/domain/fold.ts";
import type { ContractState } from "../../src/domain/records.ts";
import type { ReceiveRequest } from "../../src/receiver/request.ts";
import { signBody, type SignBodyOptions } from "../../src/signature/sign.ts";
import { parseWireTime } from "../../src/shared/wire-time.ts";

export const secret = "whsec_test_0123456789abcdef0123456789abcdef";
export const otherSecret = "whsec_other_fedcba9876543210fedcba9876543210";

/** 2026-04-14T14:30:00Z */
export const noonMs = 1_776_177_000_000;

/** An ISO time, `seconds` after 2026-04-14T14:30:00Z. */
export function at(seconds: number): string {
  return new Date(noonMs + seconds * 1000).toISOString();
}

export interface EventShape {
  readonly id?: string | number | null;
  readonly createdAt?: unknown;
  /** Short for `data.timestamp`: seconds after noon. */
  readonly seconds?: number;
  readonly [field: string]: unknown;
}

/** The JSON text of a webhook body (§6.3); fields but `id` and `createdAt` go into `data`. */
export function eventBody(type: string, { id, createdAt, seconds, ...data }: EventShape = {}): string {
  const time = seconds === undefined ? {} : { timestamp: at(seconds) };
  return JSON.stringify({ id, event: type, createdAt, data: { contractId: "CNT-1", ...time, ...data } });
}

export interface SendShape extends Partial<SignBodyOptions> {
  /** Headers beside the service's. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Send no id header. */
  readonly withoutId?: boolean;
}

/** A request whose body is there. */
export type SentRequest = ReceiveRequest & { readonly body: Uint8Array };

/** A signed request. Its header id is derived from the body unless given, so that each event has its own. */
export function signed(body: Uint8Array | string, shape: SendShape = {}): SentRequest {
  const { headers: more, withoutId, ...options } = shape;
  const webhookId = options.webhookId ?? `wh-${sha256(body).slice(0, 12)}`;
  const headers = signBody({ secret, timestamp: noonMs, ...options, body, webhookId });
  if (withoutId === true) delete headers["X-Service-Webhook-Id"];
  return { method: "POST", headers: { ...headers, ...more }, body: Buffer.from(body) };
}

/** A signed event. */
export function delivery(type: string, shape: EventShape = {}, send: SendShape = {}): SentRequest {
  return signed(eventBody(type, shape), send);
}

export function sha256(body: Uint8Array | string): string {
  return createHash("sha256").update(body).digest("hex");
}

interface Fixture {
  readonly secret: string;
  readonly deliveries: readonly { name: string; bodyBase64: string; headers: Record<string, string> }[];
}

const fixture: Fixture = deliveries;

interface FixtureRequest {
  readonly method: string;
  readonly headers: Record<string, string>;
  readonly body: Uint8Array;
}

/** One of the byte-exact deliveries of the fixture, signed with `secret`. */
export function fixtureDelivery(name: string): FixtureRequest {
  const found = fixture.deliveries.find((each) => each.name === name);
  if (found === undefined) throw new Error(`the fixture has no delivery ${name}`);
  return { method: "POST", headers: found.headers, body: Buffer.from(found.bodyBase64, "base64") };
}

export const fixtureNames = fixture.deliveries.map(({ name }) => name);

/** The facts of an event, read from its body as a delivery's are. */
export function factsOf(type: string, shape: EventShape = {}): EventFacts {
  const parsed = parseEvent(Buffer.from(eventBody(type, shape)));
  if (!parsed.ok) throw new Error(`the event is not readable: ${parsed.error.detail}`);
  return parsed.value.facts;
}

/** An event as the fold takes it in, received long after all of them happened. */
export function event(type: string, shape: EventShape = {}, receivedAt = at(9000)): EventInput {
  const digest = sha256(eventBody(type, shape));
  const webhookId = `wh-${digest.slice(0, 12)}`;
  return { kind: "event", digest, webhookId, receivedAt, facts: factsOf(type, shape) };
}

export interface SnapshotShape {
  readonly contractId?: string;
  readonly status?: string | null;
  /** Seconds after noon; `null` for an answer without any time. */
  readonly seconds: number | null;
  readonly updatedAt?: string | null;
  readonly createdAt?: string | null;
  readonly fields?: SnapshotFields;
  readonly milestones?: readonly SnapshotMilestone[];
  readonly digest?: string;
}

/** An API read as the fold takes it in. */
export function snapshot(shape: SnapshotShape): SnapshotInput {
  const { seconds, digest, contractId = "CNT-1" } = shape;
  const time = seconds === null ? undefined : parseWireTime(at(seconds));
  const facts: SnapshotFacts = {
    origin: "read",
    contractId,
    orderKey: time?.orderKey ?? "",
    takenAt: time?.text ?? null,
    status: shape.status ?? null,
    updatedAt: shape.updatedAt ?? null,
    createdAt: shape.createdAt ?? null,
    fields: shape.fields ?? {},
    milestones: shape.milestones ?? [],
  };
  return { kind: "snapshot", digest: digest ?? sha256(JSON.stringify(facts)), receivedAt: at(9999), facts };
}

export const skewMs = 60_000;

/** What the fold makes of the inputs, in whatever order they are given. */
export function foldOf(...inputs: readonly FoldInput[]): ContractState {
  return fold("CNT-1", inputs, { skewMs });
}

/** The kinds of the anomalies that a fold noted, in key order. */
export function kindsOf(state: ContractState): string[] {
  return state.anomalies.map(({ kind }) => kind);
}

/** Every order of a few things. */
export function permutations<Item>(items: readonly Item[]): Item[][] {
  if (items.length < 2) return [[...items]];
  return items.flatMap((item, index) =>
    permutations(items.filter((_, other) => other !== index)).map((rest) => [item, ...rest]),
  );
}
