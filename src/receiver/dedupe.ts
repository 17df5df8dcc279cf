/**
 * The step *dedupe*: a delivery is new when the database lets its row in. Its unique keys decide, not a look beforehand. So exactly one of several concurrent copies is new, in any number of
 * processes (semantics §4).
 */
import type { FoldInput } from "../domain/input.ts";
import { compareText } from "../domain/order.ts";
import { EscrowMirrorError } from "../shared/errors.ts";
import { fromFactColumns } from "../store/fact-columns.ts";
import type { NewRow, StoreTransaction } from "../store/store.ts";
import { allBut } from "../store/tables.ts";
import { heavyFields, type DeliveryRow } from "../store/tables/deliveries.ts";
import { unwritable } from "../store/unwritable.ts";
import { adopt, findClaimants, isSameSubject } from "./deliveries/adopt.ts";
import {
  isDelivery,
  toInput,
  type Arrival,
  type Committed,
  type DeliveryArrival,
  type SnapshotArrival,
} from "./arrival.ts";
import { digestIdOf, insertDeliveries, setAside, toRow } from "./deliveries/delivery-row.ts";
import { lastingAnomaly } from "./contracts/lasting-anomaly.ts";
import type { Verdict } from "./outcome.ts";

export async function dedupe(tx: StoreTransaction, batch: readonly Arrival[]): Promise<Committed[]> {
  const verdicts = new Map<Arrival, Met>([
    ...(await dedupeDeliveries(tx, batch.filter(isDelivery))),
    ...(await dedupeSnapshots(tx, batch.filter(isSnapshot))),
  ]);
  return batch.map((arrival) => ({ arrival, ...(verdicts.get(arrival) as Met) }));
}

type Met = Omit<Committed, "arrival">;

async function dedupeDeliveries(
  tx: StoreTransaction,
  arrivals: readonly DeliveryArrival[],
): Promise<[DeliveryArrival, Met][]> {
  const ordered = arrivals.toSorted((a, b) => compareText(placeOf(a), placeOf(b)));
  const inserted = await insertDeliveries(tx, ordered, toRow);
  const fresh = ordered.filter((_, index) => inserted[index] === true);
  const met = ordered.filter((_, index) => inserted[index] !== true);
  const verdicts = fresh.map((arrival): [DeliveryArrival, Met] => [arrival, verdictOfNew(arrival)]);
  return [...verdicts, ...(await meetAll(tx, met))];
}

/**
 * Every process inserts in this order, so two commits rarely deadlock. Deliveries that compete for one id have the same
 * place, and stay in the order of arrival.
 */
function placeOf({ webhookId, reading }: DeliveryArrival): string {
  return reading.facts?.payloadId ?? webhookId;
}

/** Most deliveries that meet a taken key are the same content again. These are counted in one statement. */
async function meetAll(
  tx: StoreTransaction,
  arrivals: readonly DeliveryArrival[],
): Promise<[DeliveryArrival, Met][]> {
  const keys = arrivals.map(({ contentKey }) => contentKey);
  const known = await tx.lock("deliveries", "contentKey", keys, heavyFields);
  const again = new Map(known.map((row) => [row.contentKey, { row, arrivals: [] as DeliveryArrival[] }]));
  for (const arrival of arrivals) again.get(arrival.contentKey)?.arrivals.push(arrival);
  await countAttempts(tx, [...again.values()]);
  const sooner = await soonerInputs(tx, [...again.values()]);
  const verdicts: [DeliveryArrival, Met][] = [];
  for (const arrival of arrivals) {
    const same = again.get(arrival.contentKey);
    const met = same === undefined ? await meetKnown(tx, arrival) : await meetSame(tx, same, arrival);
    verdicts.push([arrival, { input: sooner.get(arrival.contentKey), ...met }]);
  }
  return verdicts;
}

/**
 * Events that have no time are ordered by their arrival. If an earlier copy is committed later, that order changes: these
 * are the inputs to fold again (semantics §5.1).
 */
async function soonerInputs(tx: StoreTransaction, again: readonly Again[]): Promise<Map<string, FoldInput>> {
  const ids = again
    .filter(({ row }) => row.outcome === "applied" && row.occurredAt === null)
    .filter(isSooner)
    .map(({ row }) => row.id);
  const rows = await tx.lookup("deliveries", "id", ids);
  return new Map(
    rows.flatMap((row) => {
      const facts = fromFactColumns(row);
      return facts === null ? [] : [[row.contentKey, toInput(row, facts)] as const];
    }),
  );
}

/** The verdicts that depend on ids of others: they stand, however often the same body arrives. */
const lastingReasons: ReadonlySet<string | null> = new Set(["webhook-id-conflict", "payload-id-conflict"]);

/**
 * The same body again. It is a duplicate, unless the first copy was quarantined for a reason that is not in the body, and this
 * one can be applied: a proxy changed an unsigned header, it arrived too late, or our code had a fault. Otherwise the
 * event would be lost for ever.
 */
async function meetSame(tx: StoreTransaction, again: Again, arrival: DeliveryArrival): Promise<Met> {
  const { row } = again;
  const { facts, reason } = arrival.reading;
  if (row.outcome !== "quarantined" || lastingReasons.has(row.reason)) return duplicateOf(arrival);
  const [current] = await tx.lock("deliveries", "contentKey", [row.contentKey], heavyFields);
  if (current?.outcome !== "quarantined") return duplicateOf(arrival);
  if (current.reason === "unstorable") return tryAgain(tx, current, arrival);
  if (facts === null || reason !== null) return duplicateOf(arrival);
  const applied = await adopt(tx, { ...current, webhookId: arrival.webhookId }, facts);
  if (applied !== undefined) return duplicateOf(arrival);
  const input = toInput({ ...arrival, receivedAt: firstReceivedAt(again) }, facts);
  return { outcome: "applied", webhookId: arrival.webhookId, input };
}

/** Applies it as if it were new, and keeps its first arrival and its count. If that fails again, the batch rolls back. */
async function tryAgain(tx: StoreTransaction, row: DeliveryRow, arrival: DeliveryArrival): Promise<Met> {
  const { contentKey, attempts, receivedAt, lastReceivedAt } = row;
  const first = { ...arrival, receivedAt };
  await tx.remove("deliveries", [{ field: "contentKey", op: "=", value: contentKey }]);
  const [judged] = await dedupeDeliveries(tx, [first]);
  await tx.updateEach("deliveries", "contentKey", [{ contentKey, attempts, lastReceivedAt }]);
  const met = judged?.[1] ?? duplicateOf(arrival);
  const { facts } = arrival.reading;
  return facts === null || met.outcome !== "applied" ? met : { ...met, input: toInput(first, facts) };
}

/**
 * A delivery that met a taken key: the same content again (kept beside another only a moment ago, in this very batch),
 * other content under the same ids, or a contradiction.
 */
async function meetKnown(tx: StoreTransaction, arrival: DeliveryArrival): Promise<Verdict> {
  const { webhookId } = arrival;
  const [same] = await tx.lock("deliveries", "contentKey", [arrival.contentKey], heavyFields);
  if (same !== undefined) {
    await countAttempts(tx, [{ row: same, arrivals: [arrival] }]);
    return duplicateOf(arrival);
  }
  const { facts } = arrival.reading;
  const { byId, byPayloadId } = await findClaimants(tx, webhookId, facts?.payloadId ?? null);
  const twin = [byId, byPayloadId].find((row) => row !== undefined && isSameSubject(row, facts));
  if (twin !== undefined) {
    await countAttempts(tx, [{ row: twin, arrivals: [arrival] }]);
    await keepBeside(tx, arrival, "payload-changed", twin);
    return { outcome: "duplicate", webhookId, reason: "payload-changed" };
  }
  if (byId === undefined && byPayloadId === undefined) throw unwritable("deliveries");
  const reason = byId === undefined ? "payload-id-conflict" : "webhook-id-conflict";
  await keepBeside(tx, arrival, reason, byId ?? byPayloadId);
  return { outcome: "quarantined", webhookId, reason };
}

/** A delivery that is stored, and the times that it came again. */
interface Again {
  readonly row: DeliveryRow;
  readonly arrivals: readonly DeliveryArrival[];
}

export async function countAttempts(tx: StoreTransaction, known: readonly Again[]): Promise<void> {
  const counted = known.map(({ row, arrivals }) => {
    const times = [row.lastReceivedAt, ...arrivals.map(({ receivedAt }) => receivedAt)];
    const lastReceivedAt = times.reduce((last, each) => (compareText(each, last) > 0 ? each : last));
    const receivedAt = firstReceivedAt({ row, arrivals });
    return { id: row.id, attempts: row.attempts + arrivals.length, receivedAt, lastReceivedAt };
  });
  await tx.updateEach("deliveries", "id", counted);
  await retime(tx, known.filter(isSooner));
}

/** Moves the payloads to the new time of arrival, except those that were pruned. */
async function retime(tx: StoreTransaction, sooner: readonly Again[]): Promise<void> {
  const keys = sooner.map(({ row }) => row.contentKey);
  const payloads = await tx.lookup("payloads", "contentKey", keys, allBut("payloads", ["contentKey"]));
  const left = new Set(payloads.map(({ contentKey }) => contentKey));
  const rows = sooner.filter(({ row }) => left.has(row.contentKey)).map(toPayloadTime);
  await tx.updateEach("payloads", "contentKey", rows);
}

function isSooner(again: Again): boolean {
  return firstReceivedAt(again) !== again.row.receivedAt;
}

/** Its bytes are found by when it arrived. */
function toPayloadTime(again: Again) {
  return { contentKey: again.row.contentKey, receivedAt: firstReceivedAt(again) };
}

/** When its first copy arrived: commits may come in another order. Other content that came with its ids is no copy. */
function firstReceivedAt({ row, arrivals }: Again): string {
  const copies = arrivals.filter(({ contentKey }) => contentKey === row.contentKey);
  return copies.reduce((first, each) => (each.receivedAt < first ? each.receivedAt : first), row.receivedAt);
}

/** The first content stands; the second is kept beside it, with an anomaly that names both. */
async function keepBeside(
  tx: StoreTransaction,
  arrival: DeliveryArrival,
  kind: "payload-changed" | "webhook-id-conflict" | "payload-id-conflict",
  known: DeliveryRow | undefined,
): Promise<void> {
  const aside = setAside(arrival, kind, known?.id ?? null);
  const [kept] = await insertDeliveries(tx, [arrival], () => aside);
  // Never a 2xx for what is not stored.
  if (kept !== true)
    throw new EscrowMirrorError(
      "internal-error",
      `delivery ${digestIdOf(arrival.digest)} can't be kept beside another: its row id is taken`,
    );
  const { facts } = arrival.reading;
  const detail = `${digestIdOf(arrival.digest)} came with ids of ${known?.id ?? "another delivery"}`;
  const at = facts?.occurredAt ?? arrival.receivedAt;
  const place = { ...facts, webhookId: arrival.webhookId };
  await tx.insert("anomalies", [lastingAnomaly(kind, detail, at, place)]);
}

function verdictOfNew({ webhookId, reading }: DeliveryArrival): Verdict {
  if (reading.reason === null) return { outcome: "applied", webhookId };
  return { outcome: "quarantined", webhookId, reason: reading.reason };
}

function duplicateOf({ webhookId }: DeliveryArrival): Verdict {
  return { outcome: "duplicate", webhookId };
}

/** If two API answers say the same in the same second, one is new. */
async function dedupeSnapshots(
  tx: StoreTransaction,
  snapshots: readonly SnapshotArrival[],
): Promise<[SnapshotArrival, Verdict][]> {
  const ordered = snapshots.toSorted((a, b) => compareText(a.digest, b.digest));
  const inserted = await tx.insert("inputs", ordered.map(toSnapshotRow));
  return ordered.map((snapshot, index) => [
    snapshot,
    { outcome: inserted[index] === true ? "applied" : "duplicate" },
  ]);
}

function toSnapshotRow({ digest, receivedAt, facts }: SnapshotArrival): NewRow<"inputs"> {
  return { kind: "snapshot", contractId: facts.contractId, digest, receivedAt, facts };
}

function isSnapshot(arrival: Arrival): arrival is SnapshotArrival {
  return arrival.kind === "snapshot";
}
