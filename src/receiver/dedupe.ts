/**
 * The step *dedupe*: a delivery is new if the database accepts its row. The unique keys decide, not a read before. So exactly
 * one of several concurrent copies is new, in any number of processes (semantics §4).
 */
import type { FoldInput } from "../domain/input.ts";
import { compareText } from "../domain/order.ts";
import { EscrowMirrorError } from "../shared/errors.ts";
import { fromFactColumns } from "../store/fact-columns.ts";
import type { NewRow, StoreTransaction } from "../store/store.ts";
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
import { countAttempts, firstReceivedAt, isSooner, type Copies } from "./deliveries/copies.ts";
import { digestIdOf, insertDeliveries, setAside, toRow } from "./deliveries/delivery-row.ts";
import { lastingAnomaly } from "./contracts/lasting-anomaly.ts";
import type { Verdict } from "./outcome.ts";

export async function dedupe(tx: StoreTransaction, batch: readonly Arrival[]): Promise<Committed[]> {
  const verdicts = new Map<Arrival, Judged>([
    ...(await dedupeDeliveries(tx, batch.filter(isDelivery))),
    ...(await dedupeSnapshots(tx, batch.filter(isSnapshot))),
  ]);
  return batch.map((arrival) => ({ arrival, ...(verdicts.get(arrival) as Judged) }));
}

/** The verdict on one arrival, and its input for the fold if that is not its own. */
type Judged = Omit<Committed, "arrival">;

async function dedupeDeliveries(
  tx: StoreTransaction,
  arrivals: readonly DeliveryArrival[],
): Promise<[DeliveryArrival, Judged][]> {
  const ordered = arrivals.toSorted((a, b) => compareText(insertOrderOf(a), insertOrderOf(b)));
  const inserted = await insertDeliveries(tx, ordered, toRow);
  const fresh = ordered.filter((_, index) => inserted[index] === true);
  const taken = ordered.filter((_, index) => inserted[index] !== true);
  const verdicts = fresh.map((arrival): [DeliveryArrival, Judged] => [arrival, verdictOfNew(arrival)]);
  return [...verdicts, ...(await judgeTaken(tx, taken))];
}

/**
 * Every process inserts in this order, so two commits rarely deadlock. Deliveries that compete for one id have the same
 * place, and stay in the order of arrival.
 */
function insertOrderOf({ webhookId, reading }: DeliveryArrival): string {
  return reading.facts?.payloadId ?? webhookId;
}

/** Deliveries whose keys are taken. Most have the same content as the stored one: these are counted in one statement. */
async function judgeTaken(
  tx: StoreTransaction,
  arrivals: readonly DeliveryArrival[],
): Promise<[DeliveryArrival, Judged][]> {
  const keys = arrivals.map(({ contentKey }) => contentKey);
  const known = await tx.lock("deliveries", "contentKey", keys, heavyFields);
  const copies = new Map(known.map((row) => [row.contentKey, { row, arrivals: [] as DeliveryArrival[] }]));
  for (const arrival of arrivals) copies.get(arrival.contentKey)?.arrivals.push(arrival);
  await countAttempts(tx, [...copies.values()]);
  const sooner = await soonerInputs(tx, [...copies.values()]);
  const verdicts: [DeliveryArrival, Judged][] = [];
  for (const arrival of arrivals) {
    const same = copies.get(arrival.contentKey);
    const met =
      same === undefined ? await judgeTakenIds(tx, arrival) : await judgeSameContent(tx, same, arrival);
    verdicts.push([arrival, { input: sooner.get(arrival.contentKey), ...met }]);
  }
  return verdicts;
}

/**
 * Events without a time are ordered by their arrival. If a copy that arrived earlier is committed later, the order changes.
 * Gives the inputs to fold again (semantics §5.1).
 */
async function soonerInputs(
  tx: StoreTransaction,
  copies: readonly Copies[],
): Promise<Map<string, FoldInput>> {
  const ids = copies
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

/** Reasons that lie in the ids of other deliveries. The verdict stays, however often the same body arrives. */
const lastingReasons: ReadonlySet<string | null> = new Set(["webhook-id-conflict", "payload-id-conflict"]);

/**
 * The same body again. It is a duplicate, with one exception: the first copy is quarantined for a reason outside of the body,
 * and this one can be applied. Examples: a proxy changed an unsigned header, the first copy was too late, our code had a
 * fault. As a duplicate, the event would be lost for ever.
 */
async function judgeSameContent(
  tx: StoreTransaction,
  copies: Copies,
  arrival: DeliveryArrival,
): Promise<Judged> {
  const { row } = copies;
  const { facts, reason } = arrival.reading;
  if (row.outcome !== "quarantined" || lastingReasons.has(row.reason)) return duplicateOf(arrival);
  const [current] = await tx.lock("deliveries", "contentKey", [row.contentKey], heavyFields);
  if (current?.outcome !== "quarantined") return duplicateOf(arrival);
  if (current.reason === "unstorable") return tryAgain(tx, current, arrival);
  if (facts === null || reason !== null) return duplicateOf(arrival);
  const applied = await adopt(tx, { ...current, webhookId: arrival.webhookId }, facts);
  if (applied !== undefined) return duplicateOf(arrival);
  const input = toInput({ ...arrival, receivedAt: firstReceivedAt(copies) }, facts);
  return { outcome: "applied", webhookId: arrival.webhookId, input, seq: current.seq };
}

/** Applies it as if it were new. The first arrival and the count stay. If it fails again, the batch rolls back. */
async function tryAgain(tx: StoreTransaction, row: DeliveryRow, arrival: DeliveryArrival): Promise<Judged> {
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
 * A delivery whose content was not stored before this batch, but whose id is taken. It is the same content as another one of
 * this batch, other content under the same ids, or a contradiction.
 */
async function judgeTakenIds(tx: StoreTransaction, arrival: DeliveryArrival): Promise<Verdict> {
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

/** The first content stays. The second is stored beside it, with an anomaly that names both. */
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
