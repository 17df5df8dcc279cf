import type { Store, StoreTransaction } from "../../src/store/store.ts";
import type { TableName } from "../../src/store/tables.ts";
import { withTransactions } from "./mirror.ts";

/** How many rows went each way between a mirror and its store, by table. */
export interface Recording {
  readonly store: Store;
  /** Rows that were inserted or upserted. */
  readonly written: Map<TableName, number>;
  /** Rows that were looked up or found. */
  readonly read: Map<TableName, number>;
  readonly clear: () => void;
}

/** The same store, whose transactions count the rows that they read and write. */
export function recording(inner: Store): Recording {
  const written = new Map<TableName, number>();
  const read = new Map<TableName, number>();
  const store = withTransactions(inner, (work) =>
    inner.transaction((tx) => work(counting(tx, written, read))),
  );
  const clear = (): void => {
    written.clear();
    read.clear();
  };
  return { store, written, read, clear };
}

function counting(
  tx: StoreTransaction,
  written: Map<TableName, number>,
  read: Map<TableName, number>,
): StoreTransaction {
  const insert: StoreTransaction["insert"] = (table, rows) => {
    add(written, table, rows.length);
    return tx.insert(table, rows);
  };
  const upsert: StoreTransaction["upsert"] = (table, rows) => {
    add(written, table, rows.length);
    return tx.upsert(table, rows);
  };
  const lookup: StoreTransaction["lookup"] = async (table, field, values, without, limitEach) => {
    const rows = await tx.lookup(table, field, values, without, limitEach);
    add(read, table, rows.length);
    return rows;
  };
  const find: StoreTransaction["find"] = async (table, query) => {
    const rows = await tx.find(table, query);
    add(read, table, rows.length);
    return rows;
  };
  return Object.assign(Object.create(tx) as StoreTransaction, { insert, upsert, lookup, find });
}

function add(counts: Map<TableName, number>, table: TableName, count: number): void {
  counts.set(table, (counts.get(table) ?? 0) + count);
}
