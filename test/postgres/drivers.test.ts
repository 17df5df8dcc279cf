/** A Kysely that runs on something else than `pg`: refused at opening, where each delivery would fail. */
import Database from "better-sqlite3";
import {
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  SqliteDialect,
  type CompiledQuery,
  type DatabaseConnection,
  type Driver,
  type QueryResult,
} from "kysely";
import { Client } from "pg";
import { expect, it } from "vitest";
import { postgres } from "../../src/store/postgres/store.ts";
import { openMirror } from "../support/mirror.ts";
import { freshSchema, openPool, postgresUrl, run } from "../support/postgres.ts";

type Query = (query: CompiledQuery) => Promise<{ rows: unknown[] }>;

/** A Kysely for Postgres whose driver runs each query so. */
function kyselyOver(query: Query): Kysely<object> {
  const connection: DatabaseConnection = {
    executeQuery: async <R>(compiled: CompiledQuery): Promise<QueryResult<R>> => ({
      rows: (await query(compiled)).rows as R[],
    }),
    streamQuery: () => {
      throw new Error("no streams");
    },
  };
  const driver: Driver = {
    init: nothing,
    acquireConnection: async () => connection,
    beginTransaction: nothing,
    commitTransaction: nothing,
    rollbackTransaction: nothing,
    releaseConnection: nothing,
    destroy: nothing,
  };
  return new Kysely<object>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => driver,
      createIntrospector: (db) => new PostgresIntrospector(db),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
  });
}

async function nothing(): Promise<void> {}

/** As those do that send queries over HTTP. */
async function overConnectionOfItsOwn({ sql, parameters }: CompiledQuery): Promise<{ rows: unknown[] }> {
  const client = new Client({ connectionString: postgresUrl });
  await client.connect();
  try {
    return await client.query(sql, [...parameters]);
  } finally {
    await client.end();
  }
}

const changing = (change: (query: CompiledQuery) => { sql: string; parameters: unknown[] }): Query => {
  const pool = openPool(postgresUrl, { max: 1 });
  return (query) => {
    const { sql, parameters } = change(query);
    return pool.query(sql, parameters);
  };
};

const bytesAsText = ({ sql, parameters }: CompiledQuery) => ({
  sql,
  parameters: parameters.map((value) =>
    value instanceof Uint8Array ? `\\x${Buffer.from(value).toString("hex")}` : value,
  ),
});

/** As postgres.js takes every Buffer for a bytea. */
const bytesAsTyped = ({ sql, parameters }: CompiledQuery) => ({
  sql: sql.replaceAll(/(\$\d)::/g, "$1::bytea::"),
  parameters: [...parameters],
});

it.each<[string, () => Kysely<object>]>([
  [
    "SQLite",
    () => new Kysely<object>({ dialect: new SqliteDialect({ database: new Database(":memory:") }) }),
  ],
  [
    "one of another database",
    () => kyselyOver(() => Promise.reject(Object.assign(new Error("syntax"), { code: "ER_PARSE_ERROR" }))),
  ],
  ["one that sends each query over a connection of its own", () => kyselyOver(overConnectionOfItsOwn)],
  ["one that has its own form of bytes", () => kyselyOver(changing(bytesAsText))],
  ["one that tells the server another type", () => kyselyOver(changing(bytesAsTyped))],
  ["one that gives no rows", () => kyselyOver(async () => ({ rows: [] }))],
])("a driver is refused at opening that is not pg: %s", async (_, kysely) => {
  const schema = freshSchema();
  await expect(openMirror({ store: postgres({ kysely: kysely(), schema }) })).rejects.toMatchObject({
    code: "invalid-configuration",
    message: expect.stringMatching(/the app's Kysely.* does not run on the driver pg.* PostgresDialect/),
  });
  expect(await run(`select 1 from pg_namespace where nspname = '${schema}'`)).toEqual([]);
});
