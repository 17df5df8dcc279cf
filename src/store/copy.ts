/** Moves a mirror's rows into another store, whatever kinds the two are of. */
import { createHash } from "node:crypto";
import { columnsOf, encodeValue } from "./codec.ts";
import type { Condition, FieldOf, NewRow, Store, StoreReader } from "./store.ts";
import { tables, type TableName, type Tables } from "./tables.ts";

export interface CopyProgress {
  readonly table: TableName;
  readonly rows: number;
}

export interface Compared {
  readonly table: TableName;
  readonly rows: number;
  /** The same rows on both sides, but for the numbers that a database gives them. */
  readonly equal: boolean;
}

const pageRows = 500;

/**
 * Copies page by page, each page in one transaction, in the order in which the rows came. What is there already is
 * written over with the same, so that it can be stopped and run again; then compares both sides.
 */
export async function copyStore(
  source: Store,
  target: Store,
  onProgress: (progress: CopyProgress) => void,
): Promise<Compared[]> {
  for (const table of Object.keys(tables) as TableName[]) {
    let rows = 0;
    for await (const page of pagesOf(source, table)) {
      await writePage(target, table, page);
      rows += page.length;
      onProgress({ table, rows });
    }
  }
  const compared: Compared[] = [];
  for (const table of Object.keys(tables) as TableName[]) compared.push(await compare(source, target, table));
  return compared;
}

async function compare(source: Store, target: Store, table: TableName): Promise<Compared> {
  const [one, other] = [await digestOf(source, table), await digestOf(target, table)];
  return { table, rows: one.rows, equal: one.rows === other.rows && one.sum === other.sum };
}

/** Of rows without a key, those that are there already are not written again. */
async function writePage<Name extends TableName>(store: Store, table: Name, page: readonly Tables[Name][]) {
  const isKeyed = (row: object): boolean => tables[table].key.every((field) => valueOf(row, field) !== null);
  const rows = page.map(withoutNumber) as unknown as NewRow<Name>[];
  await store.transaction(async (tx) => {
    await tx.upsert(table, rows.filter(isKeyed));
    const unkeyed = rows.filter((row) => !isKeyed(row));
    if (unkeyed.length === 0) return;
    const taken = new Set((await unkeyedOf(tx, table)).map((row) => hashOf(table, row)));
    await tx.insert(
      table,
      unkeyed.filter((row) => !taken.has(hashOf(table, row))),
    );
  });
}

/** Such as anomalies between contracts, which have no position. */
async function unkeyedOf<Name extends TableName>(reader: StoreReader, table: Name): Promise<Tables[Name][]> {
  const fields = tables[table].key as readonly FieldOf<Name>[];
  const found: Tables[Name][] = [];
  for (const field of fields) found.push(...(await reader.find(table, { where: [{ field, op: "null" }] })));
  return found;
}

/** Pages by the number that the database gave, else by the first field of the key, whose rows stay together. */
async function* pagesOf<Name extends TableName>(store: Store, table: Name): AsyncGenerator<Tables[Name][]> {
  const by = ("seq" in tables[table].columns ? "seq" : tables[table].key[0]) as FieldOf<Name>;
  let after: string | number | undefined;
  for (;;) {
    const page = await store.read((reader) => readPage(reader, table, by, after));
    if (page.length === 0) return;
    yield page;
    after = valueOf(page.at(-1) as object, by) as string | number;
  }
}

async function readPage<Name extends TableName>(
  reader: StoreReader,
  table: Name,
  by: FieldOf<Name>,
  after: string | number | undefined,
): Promise<Tables[Name][]> {
  const where = after === undefined ? [] : [{ field: by, op: ">", value: after } as Condition<Tables[Name]>];
  const page = await reader.find(table, { where, orderBy: [by], limit: pageRows });
  if (page.length < pageRows || by === "seq") return page;
  const last = valueOf(page.at(-1) as object, by) as string;
  const rest = await reader.find(table, {
    where: [{ field: by, op: "=", value: last }],
  });
  return [...page.filter((row) => valueOf(row, by) !== last), ...rest];
}

/** A sum of the rows' hashes: the same whatever the order. */
async function digestOf(store: Store, table: TableName): Promise<{ rows: number; sum: bigint }> {
  let rows = 0;
  let sum = 0n;
  for await (const page of pagesOf(store, table))
    for (const row of page) {
      rows += 1;
      sum = BigInt.asUintN(128, sum + BigInt(`0x${hashOf(table, row).slice(0, 32)}`));
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
