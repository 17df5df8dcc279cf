/** The jobs of a new handler for deliveries that are stored already. */
import { groupBy } from "../shared/group-by.ts";
import { toIsoTime } from "../shared/clock.ts";
import { createPace } from "../shared/pace.ts";
import { holdPayloads } from "../store/payload.ts";
import type { StoreTransaction, Stretch } from "../store/store.ts";
import { allBut } from "../store/tables.ts";
import type { AnomalyRow } from "../store/tables/contracts.ts";
import type { DeliveryRow } from "../store/tables/deliveries.ts";
import { toAnomaly } from "../queries/deliveries.ts";
import type { Transition } from "../queries/shapes.ts";
import { toTransition } from "../queries/contracts.ts";
import { jobsFor, type Filter, type Move, type News, type Subscription } from "./subscription.ts";

const pageRows = 200;

/** Adds the jobs of one page of older deliveries. Resolves with whether it was the last page. */
export async function turnPage(tx: StoreTransaction, name: string): Promise<boolean> {
  const [row] = await tx.lookup("subscriptions", "name", [name]);
  if (row === undefined || row.cursor === null) return true;
  const page = await tx.find("deliveries", {
    where: [{ field: "seq", op: ">", value: row.cursor }],
    orderBy: ["seq"],
    limit: pageRows,
  });
  const subscription = row as Subscription;
  const jobs = jobsFor([subscription], await newsOf(tx, page, subscription.filter));
  await holdPayloads(
    tx,
    jobs.flatMap(({ contentKey }) => contentKey ?? []),
  );
  await tx.jobs.insert(jobs);
  const cursor = page.length < pageRows ? null : (page.at(-1)?.seq ?? null);
  await tx.updateEach("subscriptions", "name", [{ name, cursor }]);
  return cursor === null;
}

/**
 * The news of stored deliveries. Moves come from the present history, because the mirror does not store its state before
 * each delivery.
 */
async function newsOf(reader: StoreTransaction, page: readonly DeliveryRow[], filter: Filter): Promise<News> {
  const applied = page.filter(({ outcome }) => outcome === "applied");
  const ofTransitions = "entity" in filter;
  const ofAnomalies = !ofTransitions && filter.events.includes("anomaly");
  return {
    deliveries: applied.map(({ contentKey, webhookId, event, contractId }) => ({
      contentKey,
      webhookId,
      event: event ?? "",
      contractId,
    })),
    moves: ofTransitions ? await movesOf(reader, applied) : [],
    anomalies: ofAnomalies ? (await anomaliesOf(reader, page)).map(toAnomaly) : [],
  };
}

async function movesOf(reader: StoreTransaction, applied: readonly DeliveryRow[]): Promise<Move[]> {
  if (applied.length === 0) return [];
  const rows = await reader.find("transitions", {
    where: [
      { field: "contractId", op: "in", value: contractIdsOf(applied) },
      { field: "webhookId", op: "in", value: webhookIdsOf(applied) },
      { field: "moved", op: "=", value: true },
    ],
    // One delivery can cause several moves. They enter the line in the order of the history.
    orderBy: ["position"],
  });
  const moved = groupBy(rows, (row) => row.webhookId);
  return applied.flatMap((delivery) =>
    (moved.get(delivery.webhookId) ?? [])
      .filter((row) => isMoveUnder(delivery, row))
      .map((row) => moveUnder(delivery, toTransition(row))),
  );
}

/** A move under the delivery for which the history shows it. Whoever tells of it gives its job the same key. */
export function moveUnder({ contentKey }: Pick<DeliveryRow, "contentKey">, transition: Transition): Move {
  return { inputKey: contentKey, contentKey, byDelivery: true, transition };
}

/** Two deliveries can have the same webhook id, even those of one contract. */
export function isMoveUnder(
  { contractId, event, occurredAt }: Pick<DeliveryRow, "contractId" | "event" | "occurredAt">,
  move: Pick<Transition, "contractId" | "event" | "occurredAt">,
): boolean {
  return move.contractId === contractId && move.event === event && move.occurredAt === occurredAt;
}

function anomaliesOf(reader: StoreTransaction, page: readonly DeliveryRow[]): Promise<AnomalyRow[]> {
  return reader.lookup("anomalies", "webhookId", webhookIdsOf(page));
}

function webhookIdsOf(page: readonly DeliveryRow[]): string[] {
  return [...new Set(page.map(({ webhookId }) => webhookId))];
}

function contractIdsOf(page: readonly DeliveryRow[]): string[] {
  return [...new Set(page.map(({ contractId }) => contractId))].filter((id) => id !== null);
}

/**
 * `seq` is the order of commits, and `receivedAt` the order of arrival, by the clock of each process. A delivery commits within
 * this time after its arrival, even if two clocks differ. So only deliveries that arrived within this time can change places.
 */
const outOfOrderMs = 60_000;

/**
 * The `seq` after which a handler with `since` reads. It is one below the smallest `seq` of the minute that begins with the
 * first delivery from `since` on. A delivery of the minute before `since` can have a greater `seq`: then the handler gets it
 * too. If there is no delivery from `since` on, it reads no older one: so a `since` in the future counts as now. The index of
 * arrivals is read in pages, so the cost depends on the deliveries of that minute alone.
 */
export async function seqBefore(tx: StoreTransaction, since: string): Promise<number> {
  const pace = createPace();
  const without = allBut("deliveries", ["receivedAt", "seq"]);
  let least = Number.MAX_SAFE_INTEGER;
  let stretch: Pick<Stretch<DeliveryRow>, "from" | "after" | "until"> = { from: since };
  for (;;) {
    const asked = { by: ["receivedAt", "seq"], ...stretch, rowsMax: pageRows } as const;
    const rows = await tx.walk("deliveries", asked, { without });
    for (const { seq } of rows) least = Math.min(least, seq);
    const [first, last] = [rows[0], rows.at(-1)];
    if (first === undefined || last === undefined || rows.length < pageRows) break;
    const until = stretch.until ?? toIsoTime(Date.parse(first.receivedAt) + outOfOrderMs);
    stretch = { after: [last.receivedAt, last.seq], until };
    await pace();
  }
  return least === Number.MAX_SAFE_INTEGER ? least : least - 1;
}
