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
import type { Lock } from "../shared/lock.ts";
import type { SqliteHandle } from "./sqlite-handle.ts";

/** A Kysely dialect on one connection that is lent to one query or transaction at a time. */
export function kyselyDialectOn(handle: SqliteHandle, lock: Lock): Dialect {
  return {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => createDriver(handle, lock),
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  };
}

function createDriver(handle: SqliteHandle, lock: Lock): Driver {
  const connection = createConnection(handle);
  const releases: (() => void)[] = [];
  const run = async (sql: string): Promise<void> => {
    handle.prepare(sql).run();
  };
  return {
    init: async () => {},
    acquireConnection: async () => {
      releases.push(await lock.acquire());
      return connection;
    },
    releaseConnection: async () => releases.pop()?.(),
    beginTransaction: () => run("begin"),
    commitTransaction: () => run("commit"),
    rollbackTransaction: () => run("rollback"),
    destroy: async () => {},
  };
}

function createConnection(handle: SqliteHandle): DatabaseConnection {
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
      for (const row of handle.prepare(sql).iterate(...parameters)) yield { rows: [row as R] };
    },
  };
}
