/** What a mirror holds, made comparable: without what tells only when and under which header things came. */
import { fold } from "../../src/domain/fold.ts";
import { familyOf, type FoldInput } from "../../src/domain/input.ts";
import { compareText } from "../../src/domain/order.ts";
import type { ContractState } from "../../src/domain/records.ts";
import { parseEvent } from "../../src/events/parse.ts";
import { digestIn } from "../../src/receiver/deliveries/content-key.ts";
import { toIsoTime } from "../../src/shared/clock.ts";
import type { Store, StoreReader } from "../../src/store/store.ts";
import type { TableName, Tables } from "../../src/store/tables.ts";
import type { ScheduledArrival, ScheduledEvent } from "../../src/testing/story/schedule.ts";
import { folding } from "./receiving.ts";

type Row = Readonly<Record<string, unknown>>;

/** Rows by table, each table sorted by its rows' text. */
export type Rows = Readonly<Record<string, readonly Row[]>>;

/** The tables that the fold writes. */
const foldTables = [
  "contracts",
  "milestones",
  "refunds",
  "payments",
  "disputes",
  "transitions",
  "anomalies",
] as const satisfies readonly TableName[];

/** Arrival facts (semantics §1.4), and the key that lists go by, which the store adds to what a fold gives. */
const arrivalFacts: ReadonlySet<string> = new Set([
  "seq",
  "changedAt",
  "syncedAt",
  "lastReceivedAt",
  "attempts",
  "initiatedKey",
]);

/** Everything that the mirror made of what it received: two mirrors of the same deliveries hold the same. */
export function mirroredRows(store: Store): Promise<Rows> {
  return store.read(async (reader) => {
    const deliveries = await reader.find("deliveries");
    const digests = new Map(deliveries.map(({ webhookId, contentKey }) => [webhookId, digestIn(contentKey)]));
    const found: Record<string, Row[]> = {};
    for (const table of foldTables) found[table] = comparable(await readTable(reader, table), digests);
    return { ...found, deliveries: comparable(deliveries.map(identity), digests) };
  });
}

/** Those of a plain fold. It knows one contract at a time, hence no anomalies between contracts. */
export function foldedRows(distinct: readonly ScheduledArrival[]): Rows {
  const inputs = distinct.map(toFoldInput).filter(isFolded);
  const states = [...groupByContract(inputs)].map(([id, own]) => fold(id, own, folding));
  return rowsOfStates(states);
}

/** Events of no family are stored and move nothing (semantics §5.3). */
export function isFolded(input: FoldInput): boolean {
  return input.kind !== "event" || familyOf(input.facts.event) !== undefined;
}

export function rowsOfStates(states: readonly ContractState[]): Rows {
  return {
    contracts: comparable(states.map(({ contract }) => contract)),
    milestones: comparable(states.flatMap(({ milestones }) => [...milestones.values()])),
    refunds: comparable(states.flatMap(({ refunds }) => [...refunds.values()])),
    payments: comparable(states.flatMap(({ payments }) => [...payments.values()])),
    disputes: comparable(states.flatMap(({ disputes }) => [...disputes.values()])),
    transitions: comparable(states.flatMap(({ transitions }) => transitions)),
    anomalies: comparable(states.flatMap(({ anomalies }) => anomalies)),
  };
}

/** What the fold takes in of an arrival, its digest for its webhook id. */
export function toFoldInput(arrival: ScheduledArrival): FoldInput {
  if (arrival.kind === "snapshot") return arrival;
  const parsed = parseEvent(Buffer.from(arrival.sent.body));
  if (!parsed.ok) throw new Error(`${parsed.error.reason}: ${parsed.error.detail}`);
  const { digest } = arrival.sent;
  const receivedAt = toIsoTime(arrival.firstMs);
  return { kind: "event", digest, webhookId: digest, receivedAt, facts: parsed.value.facts };
}

/** The same events as they reached a store that other processes filled, by clocks of their own. */
export async function asReceived(store: Store, events: readonly ScheduledEvent[]): Promise<ScheduledEvent[]> {
  const rows = await store.read((reader) => reader.find("deliveries"));
  const times = new Map(
    rows.map(({ contentKey, receivedAt }) => [digestIn(contentKey), Date.parse(receivedAt)]),
  );
  return events.map((event) => ({ ...event, firstMs: times.get(event.sent.digest) ?? event.firstMs }));
}

/** How often each delivery is said to have come. */
export async function attemptsByDigest(store: Store): Promise<Map<string, number>> {
  const rows = await store.read((reader) => reader.find("deliveries"));
  return new Map(rows.map(({ contentKey, attempts }) => [digestIn(contentKey), attempts]));
}

/** Empties a store between two cases. */
export function clearStore(store: Store): Promise<void> {
  return store.transaction(async (tx) => {
    for (const table of [...foldTables, "deliveries", "payloads", "inputs"] as const)
      await tx.remove(table, []);
  });
}

/** The rows without the anomalies between contracts. */
export function withinContracts(rows: Rows): Rows {
  const { anomalies = [], deliveries: _, ...rest } = rows;
  return { ...rest, anomalies: anomalies.filter(({ position }) => position !== null) };
}

export function groupByContract(inputs: readonly FoldInput[]): Map<string, FoldInput[]> {
  const groups = new Map<string, FoldInput[]>();
  for (const input of inputs) {
    const { contractId } = input.facts;
    groups.set(contractId, [...(groups.get(contractId) ?? []), input]);
  }
  return groups;
}

async function readTable(reader: StoreReader, table: TableName): Promise<Row[]> {
  return (await reader.find(table)) as unknown as Row[];
}

/** Of a delivery: what it says, what became of it and when it arrived first. Its webhook id is whichever was brought first. */
function identity(row: Tables["deliveries"]): Row {
  const { contentKey, payloadId, outcome, reason, contradicts, receivedAt, facts } = row;
  return { contentKey, payloadId, outcome, reason, contradicts, receivedAt, facts };
}

function comparable(rows: readonly object[], digests: ReadonlyMap<string, string> = new Map()): Row[] {
  const cleaned = rows.map((row) => {
    const kept = Object.entries(row).filter(([field]) => !arrivalFacts.has(field));
    kept.sort(([a], [b]) => compareText(a, b));
    return Object.fromEntries(kept.map(([field, value]) => [field, byDigest(field, value, digests)]));
  });
  const keyed = cleaned.map((row) => [JSON.stringify(row), row] as const);
  return keyed.sort(([a], [b]) => compareText(a, b)).map(([, row]) => row);
}

function byDigest(field: string, value: unknown, digests: ReadonlyMap<string, string>): unknown {
  if (field !== "webhookId" || typeof value !== "string") return value;
  return digests.get(value) ?? value;
}
