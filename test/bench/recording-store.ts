import { createMirror } from "../../src/index.ts";
import { sqlite } from "../../src/sqlite.ts";
import type { Store, StoreTransaction } from "../../src/store/store.ts";
import type { TableName } from "../../src/store/tables.ts";
import { receiveAll, secret, type BenchDelivery } from "./deliveries.ts";

/** One row that a commit wrote. */
export interface RecordedWrite {
  readonly how: "insert" | "upsert";
  readonly table: TableName;
  readonly row: object;
}

/** What the mirror writes for these deliveries, commit by commit. */
export async function record(deliveries: Iterable<BenchDelivery>): Promise<RecordedWrite[][]> {
  const commits: RecordedWrite[][] = [];
  const store = recordingStore(sqlite(":memory:"), commits);
  const mirror = await createMirror({ store, webhook: { secrets: secret } });
  commits.length = 0;
  await receiveAll(mirror, deliveries);
  await mirror.close();
  return commits.filter((writes) => writes.length > 0);
}

/** The rows of a commit dealt out, one delivery's share to each transaction. */
export function byDelivery(writes: readonly RecordedWrite[]): RecordedWrite[][] {
  const deliveries = writes.filter(({ table }) => table === "deliveries");
  const groups = deliveries.map((write) => [write]);
  for (const [index, write] of writes.filter(({ table }) => table !== "deliveries").entries())
    groups[index % groups.length]?.push(write);
  return groups;
}

/** A store that keeps what is written through it, commit by commit. */
function recordingStore(store: Store, commits: RecordedWrite[][]): Store {
  return {
    description: store.description,
    open: (options) => store.open(options),
    read: (work) => store.read(work),
    get lookEveryMs() {
      return store.lookEveryMs;
    },
    nextJobAt: (handlers) => store.nextJobAt(handlers),
    get upkeep() {
      return store.upkeep;
    },
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
