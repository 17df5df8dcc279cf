/** A connection to Postgres as the store uses it, whoever lends it, and how long we wait for it. */
import type { CompiledQuery, QueryResult } from "kysely";
import { within, type TimeLeft } from "../../shared/within.ts";
import type { SqlValue } from "../sql/codec.ts";
import { lateAnswer } from "./faults.ts";

/** One connection, ours until it is released. */
export interface Connection {
  /** Whether a statement may be asked for before the one before is answered. They then fail as a transaction's do. */
  readonly pipelined: boolean;
  /** Runs one statement, and gives its rows as arrays. */
  query(sql: string, values: readonly SqlValue[]): Promise<unknown[][]>;
  /** Runs one statement, and says how many rows it wrote. */
  write(sql: string, values: readonly SqlValue[]): Promise<number>;
  /** Runs statements without values in one round trip where it can, and gives the rows of the last. */
  script(statements: readonly string[]): Promise<unknown[][]>;
  /** Runs a statement of the integrator's, whose rows come as the pool's owner has them. */
  execute(query: CompiledQuery): Promise<QueryResult<unknown>>;
  /** The driver's own connection; `undefined` where a host's Kysely hides it. */
  readonly driver: object | undefined;
  /** Gives it back, or destroys it where it failed: what state it is in nobody knows. */
  release(failed: boolean): void;
}

export interface Connections {
  /** Waits for a connection, and later for what is asked on it, no longer than there is time left. */
  connect(timeLeft: TimeLeft): Promise<Connection>;
  close(): Promise<void>;
}

/** @param late gets what comes after the time is over */
export function inTime<T>(ms: number, work: Promise<T>, late?: (value: T) => void): Promise<T> {
  return within(ms, work, noConnection, late);
}

export function noConnection(): Error {
  return lateAnswer("gave no connection in time: is its pool exhausted, or does the server hang?");
}

/** A statement is cancelled by the server when there is no time left: its answer may come a little later than that. */
const graceMs = 1000;

export function answered<T>(timeLeft: TimeLeft, answer: Promise<T>): Promise<T> {
  const ms = timeLeft() + graceMs;
  return within(ms, answer, () => lateAnswer(`did not answer within ${ms} ms: try again`));
}

export function ignore(): void {}
