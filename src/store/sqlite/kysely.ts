import {
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type QueryResult,
} from "kysely";
import { EscrowMirrorError } from "../../shared/errors.ts";
import type { Lock } from "../../shared/lock.ts";
import { within } from "../../shared/within.ts";
import type { TablePlace } from "../sql/dialect.ts";
import { lend } from "../sql/lending.ts";
import { refuseWrite } from "../sql/read-only.ts";
import type { Lent } from "../store.ts";
import { faultOf, type SqliteHandle } from "./handle.ts";

/** The connections of `mirror.db`. */
export interface Browsing {
  readonly dialect: Dialect;
  /** Ends the streams that are still read, which would keep the connection from being closed. Their readers are told. */
  endStreams(): void;
}

/** How long a query waits for what holds the connection. */
const lendingMs = 8000;

/**
 * Kysely on a connection of its own, lent to one query, transaction or stream at a time. A holder that asks for it again
 * would deadlock, so the wait ends after `waitMs`.
 */
export function browseAlone(handle: SqliteHandle, lock: Lock, waitMs = lendingMs): Browsing {
  const streams = new Set<IterableIterator<unknown>>();
  const releases: (() => void)[] = [];
  const run = async (sql: string): Promise<void> => {
    handle.prepare(sql).run();
  };
  const connection = reading(createConnection(handle, streams));
  const driver: Driver = {
    init: async () => {},
    acquireConnection: async () => {
      releases.push(await within(waitMs, lock.acquire(), () => stillHeld(waitMs), giveBack));
      return connection;
    },
    releaseConnection: async () => releases.pop()?.(),
    beginTransaction: () => run("begin"),
    commitTransaction: () => run("commit"),
    rollbackTransaction: () => run("rollback"),
    destroy: async () => {},
  };
  const endStreams = (): void => {
    for (const rows of streams) {
      streams.delete(rows);
      rows.return?.();
    }
  };
  return { dialect: dialectOf(driver), endStreams };
}

function stillHeld(waitMs: number): EscrowMirrorError {
  return new EscrowMirrorError(
    "store-unavailable",
    `mirror.db got no connection within ${waitMs} ms: it has only one on a file, and a stream, a transaction or connection().execute() of mirror.db holds it until its end. A query that is made inside one of these, but on mirror.db, can't get one: make it on the transaction, or read the stream to its end first`,
  );
}

function giveBack(release: () => void): void {
  release();
}

/**
 * Kysely on the one connection of a database in memory, between the mirror's own transactions. Lent for one statement: a
 * longer holder that calls the mirror would deadlock, and every delivery with it.
 */
export function browseShared(handle: SqliteHandle, lock: Lock): Browsing {
  const whole = createConnection(handle, new Set());
  const executeQuery = <R>(query: CompiledQuery): Promise<QueryResult<R>> =>
    lock.run(() => whole.executeQuery<R>(query));
  const connection: DatabaseConnection = {
    executeQuery,
    streamQuery: async function* <R>(query: CompiledQuery): AsyncIterableIterator<QueryResult<R>> {
      const { rows } = await executeQuery<R>(query);
      for (const row of rows) yield { rows: [row] };
    },
  };
  const driver: Driver = {
    init: async () => {},
    acquireConnection: async () => reading(connection),
    releaseConnection: async () => {},
    beginTransaction: refuseTransaction,
    commitTransaction: async () => {},
    rollbackTransaction: async () => {},
    destroy: async () => {},
  };
  return { dialect: dialectOf(driver), endStreams: () => {} };
}

/** The writing connection, while a transaction of ours is open on it. */
export function lendWriter(writer: SqliteHandle, place: TablePlace): Lent {
  const whole = createConnection(writer, new Set());
  return lend({
    place,
    language,
    execute: (query) => whole.executeQuery(query),
    connection: writer,
    faultOf,
  });
}

async function refuseTransaction(): Promise<never> {
  throw new EscrowMirrorError(
    "invalid-configuration",
    "mirror.db has no transactions on a database in memory: the deliveries need its only connection. Query without a transaction, or use a file (in tests a temporary one)",
  );
}

const language: Omit<Dialect, "createDriver"> = {
  createAdapter: () => new SqliteAdapter(),
  createIntrospector: (db) => new SqliteIntrospector(db),
  createQueryCompiler: () => new SqliteQueryCompiler(),
};

function dialectOf(driver: Driver): Dialect {
  return { ...language, createDriver: () => driver };
}

function reading(connection: DatabaseConnection): DatabaseConnection {
  return {
    executeQuery: async (query) => {
      refuseWrite(query);
      return connection.executeQuery(query);
    },
    streamQuery: (query, chunkSize) => {
      refuseWrite(query);
      return connection.streamQuery(query, chunkSize);
    },
  };
}

function createConnection(handle: SqliteHandle, streams: Set<IterableIterator<unknown>>): DatabaseConnection {
  return {
    executeQuery: async <R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> => {
      const statement = handle.prepare(sql);
      if (statement.reader) return { rows: statement.all(...parameters) as R[] };
      const { changes, lastInsertRowid } = statement.run(...parameters);
      return { rows: [], numAffectedRows: BigInt(changes), insertId: BigInt(lastInsertRowid) };
    },
    streamQuery: async function* <R>({
      sql,
      parameters,
    }: CompiledQuery): AsyncIterableIterator<QueryResult<R>> {
      const rows = handle.prepare(sql).iterate(...parameters);
      streams.add(rows);
      try {
        for (const row of rows) {
          yield { rows: [row as R] };
          // Its end would look like the end of the rows.
          if (!streams.has(rows))
            throw new EscrowMirrorError("closed", "the mirror was closed during this read");
        }
      } finally {
        streams.delete(rows);
      }
    },
  };
}
