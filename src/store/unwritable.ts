/**
 * Proofs that what was written is there: somebody's trigger, policy or rule may drop a row without a word, and a delivery
 * that was answered 2xx would be lost.
 */
import { EscrowMirrorError } from "../shared/errors.ts";
import type { NewRow, StoreReader } from "./store.ts";
import { allBut, tables, type TableName, type Tables } from "./tables.ts";

/** A written row is not in its table. */
export function unwritable(table: TableName, cause?: unknown): EscrowMirrorError {
  return new EscrowMirrorError(
    "store-unavailable",
    `the table ${table} does not return what was written to it: look for a row-level policy, a trigger, a rule, a view or an added column that is not the mirror's`,
    { cause },
  );
}

/** @throws EscrowMirrorError `store-unavailable` where fewer rows were written than there were to write */
export function proveWritten(table: TableName, meant: number, written: number): void {
  if (written < meant) throw unwritable(table);
}

/** Throws where a row neither went into a table nor met another of its key. Costs nothing where all went in. */
export async function proveMet<Name extends TableName>(
  reader: Pick<StoreReader, "lookupKeys">,
  table: Name,
  rows: readonly Partial<NewRow<Name>>[],
  wentIn: readonly boolean[],
): Promise<void> {
  if (!(await areThere(reader, table, rows, wentIn))) throw unwritable(table);
}

/** Whether each row went into a table or met another of its key. */
export async function areThere<Name extends TableName>(
  { lookupKeys }: Pick<StoreReader, "lookupKeys">,
  table: Name,
  rows: readonly Partial<NewRow<Name>>[],
  wentIn: readonly boolean[],
): Promise<boolean> {
  const met = rows.filter((_, index) => wentIn[index] !== true);
  if (met.length === 0) return true;
  const { key } = tables[table];
  const keyIn = (row: object): string =>
    JSON.stringify(key.map((field) => (row as Readonly<Record<string, unknown>>)[field]));
  const keys = met as unknown as readonly Partial<Tables[Name]>[];
  const known = await lookupKeys(table, keys, allBut(table, key));
  return new Set(known.map(keyIn)).size >= new Set(met.map(keyIn)).size;
}
