import type { CompiledQuery, QueryResult } from "kysely";
import type { SqlValue } from "./codec.ts";

/** One database connection. Rows come as arrays in the order of the selected columns. */
export interface Session {
  all(sql: string, values: readonly SqlValue[]): Promise<unknown[][]>;
  run(sql: string, values: readonly SqlValue[]): Promise<void>;
}

/** A connection on which a statement costs no round trip: one statement is run for many rows of values. */
export interface RowSession extends Session {
  /** All rows that any of the runs gives. */
  allEach(sql: string, runs: readonly (readonly SqlValue[])[]): Promise<unknown[][]>;
  /** How many rows each run changed. */
  runEach(sql: string, runs: readonly (readonly SqlValue[])[]): Promise<number[]>;
}

/** A connection where each statement costs a round trip: one whose rows nobody reads is sent without waiting. */
export interface ArraySession extends Session {
  /**
   * Sends a statement whose rows nobody reads. What it fails with, the next statement that is waited for says, the commit at
   * the latest; so does what `prove` throws, which is told how many rows were written.
   */
  send(sql: string, values: readonly SqlValue[], prove?: (written: number) => void): void;
  /** Runs a statement of the integrator's. */
  execute(query: CompiledQuery): Promise<QueryResult<unknown>>;
  /** The driver's own connection; `undefined` where a host's Kysely hides it. */
  readonly driver: object | undefined;
  /** From now on, time counts as the integrator's and not as the transaction's, until the returned function is called. */
  readonly pauseTime: () => () => void;
}

/** A database kind, beside its SQL. */
export interface Engine<Connected extends Session = Session> {
  readonly description: string;
  /**
   * Runs `work` in a transaction on the writing connection. It holds the write lock from its start where the database has
   * one writer; where it has many, `work` may be run anew when another was in its way.
   */
  transaction<T>(work: (session: Connected) => Promise<T>): Promise<T>;
  /** The same with every other process that migrates kept out, and time for what takes long. */
  migration<T>(work: (session: Connected) => Promise<T>): Promise<T>;
  /** Runs `work` on a connection that sees only what is committed. */
  read<T>(work: (session: Connected) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}
