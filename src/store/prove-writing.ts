import { randomBytes } from "node:crypto";
import { isEscrowMirrorError } from "../shared/errors.ts";
import type { Store, StoreTransaction } from "./store.ts";
import { tables, type TableName } from "./tables.ts";
import type { ColumnType } from "./tables/shape.ts";
import { unwritable } from "./unwritable.ts";

/**
 * Fails where a table can't be written or does not give back what was written: a file that may only be read, a missing right,
 * somebody's row-level policy, trigger or view. Every delivery would find out, and nothing else would. In each table a
 * row is inserted, changed, read and removed, and all of it is rolled back.
 *
 * @throws EscrowMirrorError `store-unavailable` that names the table
 */
export async function proveWriting(store: Pick<Store, "transaction">): Promise<void> {
  // A transaction for each: all of them in one could take longer than one may.
  for (const name of Object.keys(tables) as TableName[])
    await undone(store, (tx) => proveEach([name], (table, row) => isKept(tx, table, row)));
}

/** Runs `work` in a transaction that is then rolled back: nothing of it is committed, and nothing goes to the disk. */
export async function undone<T>(
  store: Pick<Store, "transaction">,
  work: (tx: StoreTransaction) => Promise<T>,
): Promise<T> {
  const results: T[] = [];
  const end = new Error("the transaction is rolled back");
  try {
    await store.transaction(async (tx) => {
      results.push(await work(tx));
      throw end;
    });
  } catch (error) {
    if (error !== end) throw error;
  }
  return results.at(-1) as T;
}

async function isKept(tx: StoreTransaction, table: TableName, row: Row): Promise<boolean> {
  const [key, field] = [keyOf(table), lastFieldOf(table)];
  const changed = { ...row, [field]: sampleValue(typeOf(table, field)) };
  const isInserted = await isWritten(tx, table, row);
  await rowsOf(tx).updateEach(table, key, [{ [key]: row[key], [field]: changed[field] }]);
  const isChanged = isSame(table, await find(tx, table, row), changed);
  await rowsOf(tx).remove(table, [{ field: key, op: "=", value: row[key] }]);
  return isInserted && isChanged && (await find(tx, table, row)).length === 0;
}

/**
 * Less of the same, for a check that is made every few seconds: a row is inserted and read where every event has one. The
 * caller rolls it back.
 */
export function proveInserting(tx: StoreTransaction): Promise<void> {
  return proveEach(ofEveryEvent, (table, row) => isWritten(tx, table, row));
}

const ofEveryEvent: readonly TableName[] = ["deliveries", "payloads", "contracts"];

async function proveEach(
  names: readonly TableName[],
  prove: (table: TableName, row: Row) => Promise<boolean>,
): Promise<void> {
  for (const table of names)
    if (!(await prove(table, sampleOf(table)).catch(refuse(table)))) throw unwritable(table);
}

/** Of every table alike: the fields are data here. */
type Row = Readonly<Record<string, unknown>>;

interface Rows {
  insert(table: TableName, rows: readonly Row[]): Promise<boolean[]>;
  updateEach(table: TableName, field: string, rows: readonly Row[]): Promise<void>;
  lock(table: TableName, field: string, values: readonly unknown[]): Promise<Row[]>;
  remove(table: TableName, where: readonly { field: string; op: "="; value: unknown }[]): Promise<void>;
}

function rowsOf(tx: StoreTransaction): Rows {
  return tx as unknown as Rows;
}

async function isWritten(tx: StoreTransaction, table: TableName, row: Row): Promise<boolean> {
  const [wentIn] = await rowsOf(tx).insert(table, [row]);
  return wentIn === true && isSame(table, await find(tx, table, row), row);
}

/** As deliveries read what they change: locked, which policies may forbid where they allow a look. */
function find(tx: StoreTransaction, table: TableName, row: Row): Promise<Row[]> {
  return rowsOf(tx).lock(table, keyOf(table), [row[keyOf(table)]]);
}

function isSame(table: TableName, [found, another]: readonly Row[], row: Row): boolean {
  if (found === undefined || another !== undefined) return false;
  return Object.keys(row).every((field) =>
    typeOf(table, field) === "bytes"
      ? Buffer.from(row[field] as Uint8Array).equals(found[field] as Uint8Array)
      : JSON.stringify(row[field]) === JSON.stringify(found[field]),
  );
}

/** A row that is nobody's: each value is a new one. */
function sampleOf(table: TableName): Row {
  const fields = Object.entries(tables[table].columns).filter(([, type]) => type !== "serial");
  return Object.fromEntries(fields.map(([field, type]) => [field, sampleValue(type)]));
}

function sampleValue(type: ColumnType): unknown {
  const random = randomBytes(32);
  switch (type) {
    case "text":
      return `escrow-mirror proof ${random.toString("hex")}`;
    case "serial":
    case "integer":
      return random.readUInt32BE();
    case "boolean":
      return true;
    case "json":
      return { proof: random.toString("hex") };
    case "bytes":
      return random;
    case "hex":
      return random.toString("hex");
  }
}

function typeOf(table: TableName, field: string): ColumnType {
  const columns: Readonly<Record<string, ColumnType>> = tables[table].columns;
  return columns[field] as ColumnType;
}

function keyOf(table: TableName): string {
  return tables[table].key[0] as string;
}

/** One that is part of no key. */
function lastFieldOf(table: TableName): string {
  const { columns, key, unique } = tables[table];
  const taken = new Set<string>([...key, ...unique]);
  return Object.keys(columns).findLast((field) => !taken.has(field)) as string;
}

function refuse(table: TableName): (error: unknown) => never {
  return (error) => {
    throw isEscrowMirrorError(error, "store-unavailable", "closed") ? error : unwritable(table, error);
  };
}
