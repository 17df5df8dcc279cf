/** Moves a mirror's rows into another store, whatever kinds the two are of. */
import { EscrowMirrorError } from "../shared/errors.ts";
import { createPace } from "../shared/pace.ts";
import type { FieldOf, Store } from "../store/store.ts";
import { allBut, tables, type TableName, type Tables } from "../store/tables.ts";
import { heavyFields } from "../store/tables/deliveries.ts";
import { asInTarget } from "./cursors.ts";
import type { Place } from "../store/pages.ts";
import { isNumbered, orderOf, pagesOf, placeOf } from "./pages.ts";
import { removeGone } from "./remove-gone.ts";
import { hashOf, keyOf, valueOf } from "./rows.ts";
import { writePage } from "./write-page.ts";

export interface CopyProgress {
  readonly table: TableName;
  readonly doing: "copying" | "comparing";
  /** How many rows of the table were gone over in this step. */
  readonly rows: number;
}

export interface Compared {
  readonly table: TableName;
  readonly rows: number;
  /** The same rows on both sides, but for the numbers that a database gives them. */
  readonly equal: boolean;
}

export interface CopyOptions {
  readonly onProgress?: (progress: CopyProgress) => void;
  /** How many rows one transaction writes at most. Default 200. */
  readonly pageRows?: number;
}

/**
 * Copies page by page, each page in one transaction, in the order in which the rows came. Where the target has rows
 * already it goes on behind them, so that it can be stopped and run again. Then it compares both sides; of a table in
 * which something changed meanwhile every row is looked at, and those that differ are written again.
 *
 * @throws EscrowMirrorError `invalid-configuration` when the target has received since: copying would take that back
 */
export async function copyStore(
  source: Store,
  target: Store,
  { onProgress = () => {}, pageRows = 200 }: CopyOptions = {},
): Promise<Compared[]> {
  const copying: Copying = { source, target, onProgress, pageRows };
  await refuseToTakeBack(copying);
  await refuseToRunAgain(copying);
  for (const table of names) await copyTable(copying, table, await whereItStopped(copying, table));
  const compared: Compared[] = [];
  for (const table of names) compared.push(await compare(copying, table));
  if (compared.every(({ equal }) => equal)) return compared;
  await refuseToTakeBack(copying);
  await refuseToRunAgain(copying);
  const repaired: Compared[] = [];
  for (const each of compared) repaired.push(each.equal ? each : await repair(copying, each.table));
  return repaired;
}

const names = Object.keys(tables) as TableName[];

interface Copying extends Required<CopyOptions> {
  readonly source: Store;
  readonly target: Store;
}

async function repair(copying: Copying, table: TableName): Promise<Compared> {
  await removeGone(copying.source, copying.target, table, copying.pageRows);
  await copyTable(copying, table, undefined);
  return compare(copying, table);
}

/** A target that has something the source lacks is one that an app receives on: its state is the newer one. */
async function refuseToTakeBack(copying: Copying): Promise<void> {
  for (const table of ["deliveries", "inputs"] as const) {
    const newer = await newerIn(copying, table);
    if (newer === undefined) continue;
    throw new EscrowMirrorError(
      "invalid-configuration",
      `${copying.target.description} has received data of its own: it has ${table} that ${copying.source.description} does not have, or has in an older state, such as ${"id" in newer ? newer.id : newer.digest} from ${newer.receivedAt}. Copying would undo that. If the app has moved there already, there is nothing left to copy; if an app receives there by mistake, stop it and copy into an empty schema`,
    );
  }
}

/** Jobs that ran there would run again. */
async function refuseToRunAgain({ source, target, pageRows }: Copying): Promise<void> {
  const without = allBut("jobs", ["handler", "jobKey", "state", "webhookId"]).filter(
    (field) => field !== "seq",
  );
  for await (const page of pagesOf(target, "jobs", { pageRows, without })) {
    const done = page.filter(({ state }) => state === "done");
    const there = await source.read((reader) => reader.lookupKeys("jobs", done, without));
    const open = there.find(({ state }) => state !== "done");
    if (open === undefined) continue;
    throw new EscrowMirrorError(
      "invalid-configuration",
      `${target.description} has run jobs of its own, such as one of the handler ${open.handler}, which is not done in ${source.description}. After copying, it would run again. If the app has moved there already, there is nothing left to copy; if an app runs handlers there by mistake, stop it and copy into an empty schema`,
    );
  }
}

/** The first row of the target that says more than the source's of the same content. */
async function newerIn<Name extends "deliveries" | "inputs">(
  { source, target, pageRows }: Copying,
  table: Name,
): Promise<Tables[Name] | undefined> {
  const without = large[table] as readonly FieldOf<Name>[];
  for await (const page of pagesOf(target, table, { pageRows, without })) {
    const there = await sameContent(source, table, page);
    const newer = page.find((row) => isNewer(row, there.get(contentOf(table, row))));
    if (newer !== undefined) return newer;
  }
  return undefined;
}

async function sameContent<Name extends "deliveries" | "inputs">(
  source: Store,
  table: Name,
  rows: readonly Tables[Name][],
): Promise<Map<string, object>> {
  const without = large[table] as readonly FieldOf<Name>[];
  const keys = rows.map((row) => valueOf(row, "contentKey") as string);
  const found = await source.read((reader): Promise<object[]> =>
    table === "deliveries"
      ? reader.lookup("deliveries", "contentKey", keys, large.deliveries)
      : reader.lookupKeys(table, rows as readonly Partial<Tables[Name]>[], without),
  );
  return new Map(found.map((row) => [contentOf(table, row), row]));
}

/** Arrivals by a field that never changes: a released delivery gets another id. */
function contentOf(table: "deliveries" | "inputs", row: object): string {
  return table === "deliveries" ? String(valueOf(row, "contentKey")) : keyOf(table, row);
}

/** A delivery that came again there, or that was released there, has moved contracts there. */
function isNewer(row: object, known: object | undefined): boolean {
  if (known === undefined) return true;
  if (valueOf(row, "outcome") === "applied" && valueOf(known, "outcome") !== "applied") return true;
  return Number(valueOf(row, "attempts")) > Number(valueOf(known, "attempts"));
}

const large = { deliveries: heavyFields, inputs: ["facts"] } as const;

async function copyTable(copying: Copying, table: TableName, after: Place | undefined): Promise<void> {
  let rows = 0;
  for await (const page of pagesOf(copying.source, table, { pageRows: copying.pageRows, after })) {
    const { source, target } = copying;
    await writePage(target, table, await asInTarget(source, target, table, page));
    rows += page.length;
    copying.onProgress({ table, doing: "copying", rows });
  }
}

async function compare(copying: Copying, table: TableName): Promise<Compared> {
  const one = await digestOf(copying, "source", table);
  const other = await digestOf(copying, "target", table);
  return { table, rows: one.rows, equal: one.rows === other.rows && one.sum === other.sum };
}

/** Behind the source's row that is the last in the target: rows are written in the source's order, whole pages at once. */
async function whereItStopped({ source, target }: Copying, table: TableName): Promise<Place | undefined> {
  const by = orderOf(table);
  const [last] = await target.read((reader) => reader.walk(table, { by, descending: true, rowsMax: 1 }));
  if (last === undefined) return undefined;
  if (!isNumbered(table)) return placeOf(table, last);
  const [same] = await source.read((reader) => reader.lookupKeys(table, [last]));
  return same && placeOf(table, same);
}

/** A sum of the rows' hashes: the same whatever the order. */
async function digestOf(
  { source, target, onProgress, pageRows }: Copying,
  side: "source" | "target",
  table: TableName,
): Promise<{ rows: number; sum: bigint }> {
  let rows = 0;
  let sum = 0n;
  const pace = createPace();
  for await (const page of pagesOf(side === "source" ? source : target, table, { pageRows })) {
    const rowsThere = side === "source" ? await asInTarget(source, target, table, page) : page;
    for (const row of rowsThere) {
      await pace();
      sum = BigInt.asUintN(128, sum + BigInt(`0x${hashOf(table, row).slice(0, 32)}`));
    }
    rows += page.length;
    onProgress({ table, doing: "comparing", rows });
  }
  return { rows, sum };
}
