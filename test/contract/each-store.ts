/** A store of its own for each test of a contract, empty and open. */
import { afterEach, beforeEach } from "vitest";
import { silentLogger } from "../../src/shared/logger.ts";
import type { NewRow, Store } from "../../src/store/store.ts";
import type { TableName, Tables } from "../../src/store/tables.ts";
import { testClock } from "../support/mirror.ts";

export interface StoreContract {
  readonly name: string;
  /** A store of its own, not yet open. */
  create(): Store;
}

export const opening = { migrate: "auto", logger: silentLogger, clock: testClock() } as const;

export interface EachStore {
  /** The one of the test that runs. */
  readonly store: Store;
  insert<Name extends TableName>(table: Name, rows: readonly NewRow<Name>[]): Promise<boolean[]>;
  all<Name extends TableName>(table: Name): Promise<Tables[Name][]>;
}

/** Opens one before each test of this `describe`, and closes it afterwards. */
export function eachStore(contract: StoreContract): EachStore {
  let store: Store;
  beforeEach(async () => {
    store = contract.create();
    await store.open(opening);
  });
  afterEach(() => store.close());
  return {
    get store() {
      return store;
    },
    insert: (table, rows) => store.transaction((tx) => tx.insert(table, rows)),
    all: (table) => store.read((reader) => reader.find(table)),
  };
}
