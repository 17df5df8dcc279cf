import type { Store, StoreTransaction } from "../../src/store/store.ts";
import type { TableName } from "../../src/store/tables.ts";

/** One row that a commit wrote. */
export interface RecordedWrite {
  readonly how: "insert" | "upsert";
  readonly table: TableName;
  readonly row: object;
}

/** A store that keeps what is written through it, commit by commit. */
export function recordingStore(store: Store, commits: RecordedWrite[][]): Store {
  return {
    description: store.description,
    open: (options) => store.open(options),
    read: (work) => store.read(work),
    close: () => store.close(),
    get db() {
      return store.db;
    },
    transaction: (work) =>
      store.transaction((tx) => {
        const writes: RecordedWrite[] = [];
        commits.push(writes);
        return work(recordingTransaction(tx, writes));
      }),
  };
}

function recordingTransaction(tx: StoreTransaction, writes: RecordedWrite[]): StoreTransaction {
  return {
    ...tx,
    insert: (table, rows) => {
      for (const row of rows) writes.push({ how: "insert", table, row });
      return tx.insert(table, rows);
    },
    upsert: (table, rows) => {
      for (const row of rows) writes.push({ how: "upsert", table, row });
      return tx.upsert(table, rows);
    },
  };
}
