/** `mirror.db` on Postgres: Kysely over connections that only read. */
import {
  CompiledQuery,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type QueryResult,
} from "kysely";
import { columnsOf } from "../sql/codec.ts";
import { giveBack, take, type HostKysely, type PgClient, type PgPool } from "./pool.ts";
import { tables, type TableName } from "../tables.ts";

/** A connection and the way to give it back. */
interface Lent extends DatabaseConnection {
  release(): Promise<void>;
}

export function readingDialect(lend: () => Promise<Lent>): Dialect {
  return {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => createDriver(lend),
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  };
}

/** Each use of a connection is a transaction that can't write, so that it holds behind a pooler too. */
function createDriver(lend: () => Promise<Lent>): Driver {
  const lent = new Map<DatabaseConnection, Lent>();
  return {
    init: async () => {},
    acquireConnection: async () => {
      const connection = await lend();
      lent.set(connection, connection);
      await run(connection, "begin read only");
      return connection;
    },
    // It has begun already; a snapshot is kept for as long as a transaction asks for one.
    beginTransaction: (connection, { isolationLevel }) =>
      run(connection, `set transaction isolation level ${isolationLevel ?? "repeatable read"}`),
    commitTransaction: async () => {},
    rollbackTransaction: async () => {},
    releaseConnection: async (connection) => {
      await run(connection, "rollback").catch(() => undefined);
      await lent.get(connection)?.release();
      lent.delete(connection);
    },
    destroy: async () => {},
  };
}

async function run(connection: DatabaseConnection, sql: string): Promise<void> {
  await connection.executeQuery(CompiledQuery.raw(sql));
}

export async function lendOfPool(pool: PgPool): Promise<Lent> {
  const client = await take(pool);
  let failed = false;
  const fail = (): void => {
    failed = true;
  };
  client.on("error", fail);
  return {
    executeQuery: async <R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> => {
      const result = await client.query({ text: sql, values: [...parameters], types: exactNumbers(client) });
      return { rows: ("rows" in result ? result.rows : []) as R[] };
    },
    streamQuery: noStream,
    release: async () => {
      client.removeListener("error", fail);
      giveBack(client, failed);
    },
  };
}

/** `bigint` as a number where that is exact. Every other type as the pool's owner has it. */
function exactNumbers(client: PgClient) {
  return {
    getTypeParser: (oid: number): ((text: string) => unknown) =>
      oid === 20 ? toExactNumber : client.getTypeParser(oid, "text"),
  };
}

function toExactNumber(text: string): number | string {
  const number = Number(text);
  return Number.isSafeInteger(number) ? number : text;
}

export function lendOfKysely(host: HostKysely): Promise<Lent> {
  return new Promise((resolve, reject) => {
    const work = async (db: HostKysely): Promise<void> => {
      let free!: () => void;
      const released = new Promise<void>((done) => (free = done));
      resolve({
        executeQuery: async <R>(query: CompiledQuery): Promise<QueryResult<R>> => {
          const { rows } = await db.executeQuery(CompiledQuery.raw(query.sql, [...query.parameters]));
          return { rows: rows.map((row) => withNumbers(row as Record<string, unknown>)) as R[] };
        },
        streamQuery: noStream,
        release: async () => free(),
      });
      await released;
    };
    host.withoutPlugins().connection().execute(work).catch(reject);
  });
}

/** The host's driver gives `bigint` as text: those of our columns become the numbers that they are. */
function withNumbers(row: Record<string, unknown>): Record<string, unknown> {
  const numbers = Object.entries(row).filter(
    ([name, value]) => integerNames.has(name) && typeof value === "string" && /^-?\d+$/.test(value),
  );
  return {
    ...row,
    ...Object.fromEntries(numbers.map(([name, value]) => [name, toExactNumber(value as string)])),
  };
}

const integerNames = new Set(
  (Object.keys(tables) as TableName[]).flatMap((table) =>
    columnsOf(table)
      .filter(({ type }) => type === "integer" || type === "serial")
      .map(({ name }) => name),
  ),
);

function noStream(): AsyncIterableIterator<never> {
  throw new Error("mirror.db does not stream on Postgres: read in pages, by a key");
}
