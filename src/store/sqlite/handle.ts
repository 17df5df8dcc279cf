import { EscrowMirrorError } from "../../shared/errors.ts";
import { monotonicMs, sleep } from "../../shared/timers.ts";
import type { SqlValue } from "../sql/codec.ts";
import type { RowSession } from "../sql/session.ts";
import { toStatementFault } from "../sql/statement-fault.ts";

/** The parts of a better-sqlite3 `Database` that the store uses. Any copy of the package fits this type. */
export interface SqliteHandle {
  /** The path of the file. */
  readonly name: string;
  /** Whether it lives in memory only. */
  readonly memory: boolean;
  /** Whether a transaction is open on it. */
  readonly inTransaction: boolean;
  /** Prepares a statement. */
  prepare(sql: string): SqliteStatement;
  /** Reads or sets a pragma. */
  pragma(source: string, options?: { simple?: boolean }): unknown;
  /** Closes the connection. */
  close(): unknown;
}

/** A prepared statement. */
export interface SqliteStatement {
  /** Whether it returns rows. */
  readonly reader: boolean;
  /** Makes rows come as arrays. */
  raw(toggle?: boolean): unknown;
  /** Runs it and returns all rows. */
  all(...values: unknown[]): unknown[];
  /** Runs it and returns no rows. */
  run(...values: unknown[]): {
    /** How many rows it changed. */
    changes: number;
    /** The number of the last row inserted. */
    lastInsertRowid: number | bigint;
  };
  /** Runs it and returns the rows one by one. */
  iterate(...values: unknown[]): IterableIterator<unknown>;
}

export interface Closable {
  close(): unknown;
}

/** How many prepared statements one connection keeps. */
const statementsMax = 256;

/** A session on one connection. It prepares each statement once and runs it at the driver's own speed. */
export function createSqliteSession(handle: SqliteHandle): RowSession {
  const prepare = prepareOnce(handle);
  return {
    all: async (sql, values) => guarded(() => prepare(sql).all(...values) as unknown[][], sql),
    run: async (sql, values) =>
      guarded(() => {
        prepare(sql).run(...values);
      }, sql),
    allEach: async (sql, runs) => guarded(() => allEach(prepare(sql), runs), sql),
    runEach: async (sql, runs) => guarded(() => runEach(prepare(sql), runs), sql),
  };
}

/**
 * Runs a step that touches the database. A fault of the store (locked, full, unreachable, closed) becomes
 * `store-unavailable`: the sender is asked to come again. Any other is the statement's own, and named by its text.
 */
export function guarded<T>(step: () => T, sql?: string): T {
  try {
    return step();
  } catch (error) {
    if (isStoreFault(error)) throw unavailable(error);
    throw sql === undefined ? error : toStatementFault(sql, error, saidOf(error));
  }
}

/** The store's fault that an error of the driver's is; `undefined` for any other. */
export function faultOf(error: unknown): Error | undefined {
  return isStoreFault(error) ? unavailable(error) : undefined;
}

/** SQLite's own words name tables and constraints, and no value. A trigger's are whatever its owner writes. */
function saidOf(error: unknown): string | undefined {
  const code = sqliteCode(error);
  const isOwn = code.startsWith("SQLITE_") && code !== "SQLITE_CONSTRAINT_TRIGGER";
  return isOwn && error instanceof Error ? error.message : undefined;
}

export function isBusy(error: unknown): boolean {
  return /^SQLITE_(BUSY|LOCKED)/.test(sqliteCode(error));
}

/** Closes each, whatever the others do, and gives what was in the way. */
export function closeAll(handles: readonly Closable[]): unknown[] {
  const causes: unknown[] = [];
  for (const handle of handles) {
    try {
      handle.close();
    } catch (cause) {
      causes.push(cause);
    }
  }
  return causes;
}

/**
 * Runs `step` until the database is free. It waits without blocking the process: SQLite's own busy time-out would
 * hold up everything else that runs here.
 */
export async function whenFree<T>(step: () => T, busyTimeoutMs: number): Promise<T> {
  const deadline = monotonicMs() + busyTimeoutMs;
  for (let waitMs = 1; ; waitMs = Math.min(waitMs * 2, 25)) {
    try {
      return step();
    } catch (error) {
      if (!isBusy(error) || monotonicMs() >= deadline) return guarded(() => rethrow(error));
      await sleep(waitMs * (0.5 + Math.random() / 2));
    }
  }
}

/** The store's writes would be part of the owner's transaction. */
export function refuseInTransaction(handle: SqliteHandle): void {
  if (!handle.inTransaction) return;
  throw new EscrowMirrorError("store-unavailable", "the SQLite handle is inside a transaction of its owner");
}

function prepareOnce(handle: SqliteHandle): (sql: string) => SqliteStatement {
  const kept = new Map<string, SqliteStatement>();
  return (sql) => {
    const known = kept.get(sql);
    if (known !== undefined) return known;
    const statement = handle.prepare(sql);
    if (statement.reader) statement.raw(true);
    if (kept.size >= statementsMax) kept.delete(kept.keys().next().value as string);
    kept.set(sql, statement);
    return statement;
  };
}

function allEach(statement: SqliteStatement, runs: readonly (readonly SqlValue[])[]): unknown[][] {
  const rows: unknown[][] = [];
  for (const values of runs) for (const row of statement.all(...values)) rows.push(row as unknown[]);
  return rows;
}

function runEach(statement: SqliteStatement, runs: readonly (readonly SqlValue[])[]): number[] {
  const changed: number[] = [];
  for (const values of runs) changed.push(statement.run(...values).changes);
  return changed;
}

function unavailable(error: unknown): EscrowMirrorError {
  const code = sqliteCode(error) || (isMissingFolder(error) ? "SQLITE_CANTOPEN" : "closed");
  const known = Object.keys(advice).find((each) => code.startsWith(each));
  const what = isMissing(error) ? `${code}: ${error.message}` : code;
  const message = `SQLite can't be used now (${what}): ${advice[known ?? ""] ?? "try again"}`;
  return new EscrowMirrorError("store-unavailable", message, { cause: error });
}

const advice: Readonly<Record<string, string>> = {
  SQLITE_BUSY: "another process holds its lock; try again",
  SQLITE_LOCKED: "another connection holds its lock; try again",
  SQLITE_ERROR: "a table or a column of the mirror is missing, or the file is damaged; restore it",
  SQLITE_FULL: "the disk is full; make room",
  SQLITE_NOTADB: "the file is not an SQLite database; check the path",
  SQLITE_CORRUPT: "the file is damaged; restore it from a backup",
  SQLITE_CANTOPEN:
    "the file can't be opened; check that its folder exists and that this process may write there",
  SQLITE_READONLY: "the file can't be written; check its owner and its permissions",
  SQLITE_PERM: "the file can't be used; check its owner and its permissions",
  SQLITE_IOERR: "reading or writing the file failed; check the disk",
  closed: "its connection is closed",
};

/** Codes that a row or a statement of the store causes. All others come from the file, the disk or another process. */
const ownFaults = /^SQLITE_(CONSTRAINT|TOOBIG|MISMATCH|RANGE|MISUSE|ERROR)/;

function isStoreFault(error: unknown): boolean {
  const code = sqliteCode(error);
  if (code.startsWith("SQLITE_")) return isMissing(error) || !ownFaults.test(code);
  return (
    isMissingFolder(error) ||
    (error instanceof TypeError && /connection is (not open|busy)/.test(error.message))
  );
}

/** A table or a column, or a header that says of the file what SQLite does not know: no row can help it. */
function isMissing(error: unknown): error is Error {
  if (sqliteCode(error) !== "SQLITE_ERROR" || !(error instanceof Error)) return false;
  return /^no such (table|column)|has no column named|^unsupported file format/.test(error.message);
}

function isMissingFolder(error: unknown): boolean {
  return error instanceof TypeError && error.message.startsWith("Cannot open database because the directory");
}

function sqliteCode(error: unknown): string {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === "string" ? code : "";
}

function rethrow(error: unknown): never {
  throw error;
}
