import type { StoreTransaction } from "../store.ts";

/** The part of a transaction that takes many rows at a time. A database of many writers locks them too. */
export interface Batches extends Pick<
  StoreTransaction,
  "lookup" | "lookupKeys" | "lock" | "lockContracts" | "insert" | "upsert" | "updateEach"
> {
  /** Remembers where it stands, and gives the way back there for when a savepoint is rolled back. */
  mark(): () => void;
  /** The last statements before the commit. */
  finish(): Promise<void>;
}
