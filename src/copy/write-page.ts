import type { FieldOf, NewRow, Store, StoreReader, StoreTransaction } from "../store/store.ts";
import { tables, type TableName, type Tables } from "../store/tables.ts";
import { proveMet } from "../store/unwritable.ts";
import { hashOf, isKeyed, isRow, keyOf, valueOf } from "./rows.ts";

/** Writes the rows that the store has not, in their order, and those that it has otherwise. */
export async function writePage<Name extends TableName>(
  store: Store,
  table: Name,
  page: readonly Tables[Name][],
): Promise<void> {
  const rows = page.map(withoutNumber) as unknown as NewRow<Name>[];
  await store.transaction(async (tx) => {
    const there = await alikeIn(tx, table, rows);
    const hashes = new Set(there.map((row) => hashOf(table, row)));
    const keys = new Set(there.map((row) => keyOf(table, row)));
    const missing = rows.filter((row) => !hashes.has(hashOf(table, row)));
    const isOther = (row: object): boolean => isKeyed(table, row) && keys.has(keyOf(table, row));
    const others = missing.filter(isOther);
    if (others.length === 0 && (await tx.insert(table, missing)).every(Boolean)) return;
    await makeRoom(tx, table, missing);
    await tx.upsert(table, others);
    const added = missing.filter((row) => !isOther(row));
    await proveMet(tx, table, added, await tx.insert(table, added));
  });
}

/** The rows of the same keys; of rows without a key those of the same instant, among which equal ones are. */
export async function alikeIn<Name extends TableName>(
  reader: StoreReader,
  table: Name,
  rows: readonly object[],
): Promise<Tables[Name][]> {
  const keyed = await reader.lookupKeys(table, rows);
  const keyless = rows.filter((row) => !isKeyed(table, row));
  if (keyless.length === 0) return keyed;
  // Anomalies alone may lack a key.
  const instants = new Set(keyless.map((row) => valueOf(row, "at") as string));
  return [...keyed, ...(await reader.lookup(table, "at" as FieldOf<Name>, [...instants]))];
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
        await tx.remove(table, isRow(table, row));
  }
}

function withoutNumber(row: object): object {
  return Object.fromEntries(Object.entries(row).filter(([field]) => field !== "seq"));
}
