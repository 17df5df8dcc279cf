import type { SqlValue } from "./codec.ts";

/**
 * One database connection. Rows come as arrays in the order of the selected columns. The `…Each` forms run one
 * statement for many rows of values: a dialect may do so in one round trip.
 */
export interface Session {
  all(sql: string, values: readonly SqlValue[]): Promise<unknown[][]>;
  run(sql: string, values: readonly SqlValue[]): Promise<void>;
  /** All rows that any of the runs gives. */
  allEach(sql: string, runs: readonly (readonly SqlValue[])[]): Promise<unknown[][]>;
  /** How many rows each run changed. */
  runEach(sql: string, runs: readonly (readonly SqlValue[])[]): Promise<number[]>;
}

/** What the store asks of a database kind, beside its SQL. */
export interface Engine {
  readonly description: string;
  /** Runs `work` on the writing connection, in a transaction that holds the write lock from its start. */
  transaction<T>(work: (session: Session) => Promise<T>): Promise<T>;
  /** Runs `work` on a connection that sees only what is committed. */
  read<T>(work: (session: Session) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}
