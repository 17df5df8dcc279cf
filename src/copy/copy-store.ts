/** Moves a mirror's rows into another store, whatever kinds the two are of. */
import { createHash } from "node:crypto";
import { EscrowMirrorError } from "../shared/errors.ts";
import { columnsOf, encodeValue } from "../store/sql/codec.ts";
import type { Condition, FieldOf, NewRow, Store, StoreReader, StoreTransaction } from "../store/store.ts";
import { heavyFields, tables, type TableName, type Tables } from "../store/tables.ts";

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
  /** How many rows one transaction writes. Default 500. */
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
  { onProgress = () => {}, pageRows = 500 }: CopyOptions = {},
): Promise<Compared[]> {
  const copying: Copying = { source, target, onProgress, pageRows };
  await refuseToTakeBack(copying);
  for (const table of names) await copyTable(copying, table, await whereItStopped(copying, table));
  const compared: Compared[] = [];
  for (const table of names) compared.push(await compare(copying, table));
  if (compared.every(({ equal }) => equal)) return compared;
  await refuseToTakeBack(copying);
  const repaired: Compared[] = [];
  for (const each of compared) repaired.push(each.equal ? each : await repair(copying, each.table));
  return repaired;
}

const names = Object.keys(tables) as TableName[];

interface Copying extends Required<CopyOptions> {
  readonly source: Store;
  readonly target: Store;
}

/** What a page begins behind. */
type Position = string | number | undefined;

async function repair(copying: Copying, table: TableName): Promise<Compared> {
  await removeGone(copying, table);
  await copyTable(copying, table, undefined);
  return compare(copying, table);
}

/** What came in, by what stays of it whatever is done with it: a delivery that is released gets another id. */
const received = { deliveries: ["contentKey"], snapshots: ["contractId", "digest"] } as const;

/** A target that has something the source lacks is one that an app receives on: its state is the newer one. */
async function refuseToTakeBack(copying: Copying): Promise<void> {
  for (const table of ["deliveries", "snapshots"] as const) {
    const newer = await newerIn(copying, table);
    if (newer === undefined) continue;
    throw new EscrowMirrorError(
      "invalid-configuration",
      `${copying.target.description} has received since: its ${table} hold what ${copying.source.description} lacks, or has set aside or received less often, such as ${"id" in newer ? newer.id : newer.digest} from ${newer.receivedAt}. Copying would take that back. If the app has moved there already, there is nothing left to copy; if an app receives there by mistake, stop it and copy into an empty schema`,
    );
  }
}

/** The first row of the target that says more than the source's of the same content. */
async function newerIn<Name extends keyof typeof received>(
  { source, target, pageRows }: Copying,
  table: Name,
): Promise<Tables[Name] | undefined> {
  const nameOf = (row: object): string => JSON.stringify(received[table].map((field) => valueOf(row, field)));
  const without = large[table] as readonly FieldOf<Name>[];
  for await (const page of pagesOf(target, table, pageRows, { without })) {
    const [field] = received[table];
    const value = [...new Set(page.map((row) => valueOf(row, field)))];
    const where = [{ field, op: "in", value }] as unknown as Condition<Tables[Name]>[];
    const known = await source.read((reader) => reader.find(table, { where, without }));
    const there = new Map(known.map((row) => [nameOf(row), row]));
    const newer = page.find((row) => isNewer(row, there.get(nameOf(row))));
    if (newer !== undefined) return newer;
  }
  return undefined;
}

/** A delivery that came again there, or that was released there, has moved contracts there. */
function isNewer(row: object, known: object | undefined): boolean {
  if (known === undefined) return true;
  if (valueOf(row, "outcome") === "applied" && valueOf(known, "outcome") !== "applied") return true;
  return Number(valueOf(row, "attempts")) > Number(valueOf(known, "attempts"));
}

const large = { deliveries: heavyFields, snapshots: ["facts"] } as const;

async function copyTable(copying: Copying, table: TableName, after: Position): Promise<void> {
  let rows = 0;
  for await (const page of pagesOf(copying.source, table, copying.pageRows, { after })) {
    await writePage(copying.target, table, page);
    rows += page.length;
    copying.onProgress({ table, doing: "copying", rows });
  }
}

async function compare(copying: Copying, table: TableName): Promise<Compared> {
  const one = await digestOf(copying, copying.source, table);
  const other = await digestOf(copying, copying.target, table);
  return { table, rows: one.rows, equal: one.rows === other.rows && one.sum === other.sum };
}

/** Behind the source's row that is the last in the target: rows are written in the source's order, whole pages at once. */
async function whereItStopped({ source, target }: Copying, table: TableName): Promise<Position> {
  const by = orderOf(table);
  const query = { orderBy: [by], descending: true, limit: 1 };
  const [last] = await target.read((reader) => reader.find(table, query));
  if (last === undefined) return undefined;
  if (by !== "seq") return valueOf(last, by) as string;
  const where = isOfKey(table, last);
  const same = await source.read((reader) => reader.find(table, { where, limit: 2 }));
  return same.length === 1 ? (valueOf(same[0] as object, "seq") as number) : undefined;
}

/** Writes the rows that the target has not, in their order, and those that it has otherwise. */
async function writePage<Name extends TableName>(store: Store, table: Name, page: readonly Tables[Name][]) {
  const rows = page.map(withoutNumber) as unknown as NewRow<Name>[];
  await store.transaction(async (tx) => {
    const there = await sharing(tx, table, rows);
    const hashes = new Set(there.map((row) => hashOf(table, row)));
    const keys = new Set(there.map((row) => keyOf(table, row)));
    const missing = rows.filter((row) => !hashes.has(hashOf(table, row)));
    const isOther = (row: object): boolean => isKeyed(table, row) && keys.has(keyOf(table, row));
    const others = missing.filter(isOther);
    if (others.length === 0 && (await tx.insert(table, missing)).every(Boolean)) return;
    await makeRoom(tx, table, missing);
    await tx.upsert(table, others);
    await tx.insert(
      table,
      missing.filter((row) => !isOther(row)),
    );
  });
}

/**
 * Removes rows that hold, under another key, what is unique: a delivery that was released in the source since, or that the
 * target met in another order. The source has each of them too, so that they come back under its keys.
 */
async function makeRoom<Name extends TableName>(
  tx: StoreTransaction,
  table: Name,
  rows: readonly NewRow<Name>[],
): Promise<void> {
  for (const field of tables[table].unique as readonly FieldOf<Name>[]) {
    const keys = new Map(rows.map((row) => [valueOf(row, field) as string | null, keyOf(table, row)]));
    const values = [...keys.keys()].filter((value) => value !== null);
    for (const row of await tx.lookup(table, field, values))
      if (keys.get(valueOf(row, field) as string) !== keyOf(table, row))
        await tx.remove(table, isOfKey(table, row));
  }
}

/** What the rows of a table hang on, by a field that both have. */
const owners: { readonly [Name in TableName]?: "contracts" | "deliveries" } = {
  payloads: "deliveries",
  milestones: "contracts",
  refunds: "contracts",
  payments: "contracts",
  disputes: "contracts",
  transitions: "contracts",
  anomalies: "contracts",
};

/**
 * Of contracts and deliveries that the source knows, what it has no more: a late event took a gap away, a refold came out
 * shorter, a payload was pruned. And anomalies for good that the target noted by itself, which have no key: the source has
 * its own.
 */
async function removeGone(copying: Copying, table: TableName): Promise<void> {
  const owner = owners[table];
  if (owner === undefined) return;
  const [field] = tables[table].key as readonly string[] as readonly [string];
  for await (const page of pagesOf(copying.target, table, copying.pageRows)) {
    const ids = [...new Set(page.map((row) => valueOf(row, field) as string | null))];
    const isTheirs = { field, op: "in", value: ids } as Condition<Tables[TableName]>;
    const [kept, known] = await copying.source.read(async (reader) => [
      new Set((await reader.find(table, { where: [isTheirs] })).map((row) => identityOf(table, row))),
      await valuesKnown(reader, owner, field, ids),
    ]);
    const isGone = (row: object): boolean =>
      !kept.has(identityOf(table, row)) && (!isKeyed(table, row) || known.has(valueOf(row, field)));
    await copying.target.transaction(async (tx) => {
      for (const row of page.filter(isGone)) await tx.remove(table, isOfRow(table, row));
    });
  }
}

async function valuesKnown(
  reader: StoreReader,
  table: TableName,
  field: string,
  values: readonly (string | null)[],
): Promise<ReadonlySet<unknown>> {
  const some = values.filter((value) => value !== null);
  const rows = await reader.lookup(table, field as FieldOf<TableName>, some);
  return new Set(rows.map((row) => valueOf(row, field)));
}

function isKeyed(table: TableName, row: object): boolean {
  return tables[table].key.every((field) => valueOf(row, field) !== null);
}

function keyOf(table: TableName, row: object): string {
  return JSON.stringify(tables[table].key.map((field) => valueOf(row, field)));
}

/** What tells a row from others in both databases: its key, or all that it says. */
function identityOf(table: TableName, row: object): string {
  return isKeyed(table, row) ? keyOf(table, row) : hashOf(table, row);
}

/** Holds for this row of the store that it was read from. */
function isOfRow<Name extends TableName>(table: Name, row: Tables[Name]): Condition<Tables[Name]>[] {
  if (isKeyed(table, row)) return isOfKey(table, row);
  return [{ field: "seq", op: "=", value: valueOf(row, "seq") }] as unknown as Condition<Tables[Name]>[];
}

/** Holds for the row of the same key. */
function isOfKey<Name extends TableName>(table: Name, row: object): Condition<Tables[Name]>[] {
  return (tables[table].key as readonly FieldOf<Name>[]).map((field) => {
    const value = valueOf(row, field) as string | null;
    return value === null ? { field, op: "null" } : { field, op: "=", value };
  }) as unknown as Condition<Tables[Name]>[];
}

/** The rows that have the first field of their key in common with one of these: among them are those of the same key. */
async function sharing<Name extends TableName>(
  tx: StoreTransaction,
  table: Name,
  rows: readonly object[],
): Promise<Tables[Name][]> {
  const field = tables[table].key[0] as FieldOf<Name>;
  const values = rows.map((row) => valueOf(row, field) as string | null);
  const found = await tx.lookup(
    table,
    field,
    values.filter((value) => value !== null),
  );
  if (!values.includes(null)) return found;
  return [...found, ...(await tx.find(table, { where: [{ field, op: "null" }] }))];
}

/** Pages by the number that the database gave, else by the first field of the key, whose rows stay together. */
async function* pagesOf<Name extends TableName>(
  store: Store,
  table: Name,
  pageRows: number,
  { after: begin, without = [] }: { after?: Position; without?: readonly FieldOf<Name>[] } = {},
): AsyncGenerator<Tables[Name][]> {
  const by = orderOf(table);
  let after = begin;
  for (;;) {
    const page = await store.read((reader) => readPage(reader, table, { by, after, pageRows, without }));
    if (page.length === 0) return;
    yield page;
    after = valueOf(page.at(-1) as object, by) as string | number;
  }
}

function orderOf<Name extends TableName>(table: Name): FieldOf<Name> {
  return ("seq" in tables[table].columns ? "seq" : tables[table].key[0]) as FieldOf<Name>;
}

interface Page<Name extends TableName> {
  readonly by: FieldOf<Name>;
  readonly after: Position;
  readonly pageRows: number;
  readonly without: readonly FieldOf<Name>[];
}

async function readPage<Name extends TableName>(
  reader: StoreReader,
  table: Name,
  { by, after, pageRows, without }: Page<Name>,
): Promise<Tables[Name][]> {
  const where = after === undefined ? [] : [{ field: by, op: ">", value: after } as Condition<Tables[Name]>];
  const page = await reader.find(table, { where, orderBy: [by], limit: pageRows, without });
  if (page.length < pageRows || by === "seq") return page;
  const last = valueOf(page.at(-1) as object, by) as string;
  const rest = await reader.find(table, {
    where: [{ field: by, op: "=", value: last }],
    without,
  });
  return [...page.filter((row) => valueOf(row, by) !== last), ...rest];
}

/** A sum of the rows' hashes: the same whatever the order. */
async function digestOf(
  { onProgress, pageRows }: Copying,
  store: Store,
  table: TableName,
): Promise<{ rows: number; sum: bigint }> {
  let rows = 0;
  let sum = 0n;
  for await (const page of pagesOf(store, table, pageRows)) {
    for (const row of page) sum = BigInt.asUintN(128, sum + BigInt(`0x${hashOf(table, row).slice(0, 32)}`));
    rows += page.length;
    onProgress({ table, doing: "comparing", rows });
  }
  return { rows, sum };
}

function hashOf(table: TableName, row: object): string {
  const hash = createHash("sha256");
  for (const { field, type } of columnsOf(table).filter((column) => column.type !== "serial")) {
    const value = encodeValue(type, valueOf(row, field));
    const bytes = value === null ? "" : typeof value === "object" ? value : String(value);
    hash.update(`${value === null ? "-" : bytes.length}:`).update(bytes);
  }
  return hash.digest("hex");
}

function withoutNumber(row: object): object {
  return Object.fromEntries(Object.entries(row).filter(([field]) => field !== "seq"));
}

function valueOf(row: object, field: string): unknown {
  return (row as Record<string, unknown>)[field] ?? null;
}
