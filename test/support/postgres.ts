/** Stores and databases on the Postgres of this run. */
import { CamelCasePlugin, Kysely, PostgresDialect } from "kysely";
import { Client, Pool, type PoolConfig } from "pg";
import { inject } from "vitest";
import type { PostgresOptions, PostgresTarget } from "../../src/store/postgres/options.ts";
import { postgres } from "../../src/store/postgres/store.ts";
import type { Store } from "../../src/store/store.ts";
import { tables, type TableName } from "../../src/store/tables.ts";
import { undoAfterEachFile } from "./undo.ts";

/** Where the run's Postgres is. */
export const postgresUrl = inject("postgresUrl");

const made: (() => Promise<unknown>)[] = [];

undoAfterEachFile(async () => {
  for (const undo of made.splice(0).reverse()) await undo();
});

/** A store in a schema of its own, gone after the file's tests. */
export function postgresStore(options: PostgresOptions = {}): Store {
  return postgres({ connectionString: postgresUrl, schema: freshSchema(), ...options });
}

/** The same store, emptied when it is opened: a schema that is made once costs less than one for each test. */
export function emptied(store: Store): Store {
  let isEmpty = false;
  const open: Store["open"] = async (options) => {
    await store.open(options);
    if (!isEmpty)
      await store.transaction(async (tx) => {
        for (const table of Object.keys(tables) as TableName[]) await tx.remove(table, []);
      });
    isEmpty = true;
  };
  return Object.create(store, { open: { value: open } }) as Store;
}

/** The three ways in which a mirror is given its Postgres. */
export const targets: readonly (readonly [string, () => PostgresTarget])[] = [
  ["a connection string", () => ({ connectionString: postgresUrl })],
  ["the app's pool", () => ({ pool: openPool() })],
  [
    "the app's Kysely, which has plugins",
    () => ({
      kysely: new Kysely<object>({
        dialect: new PostgresDialect({ pool: openPool() }),
        plugins: [new CamelCasePlugin()],
      }),
    }),
  ],
];

/** The name of a schema that nobody has, dropped after the file's tests. */
export function freshSchema(): string {
  const name = `test_${process.pid}_${Date.now().toString(36)}_${Math.floor(Math.random() * 1e9).toString(36)}`;
  made.push(() => run(`drop schema if exists "${name}" cascade`));
  return name;
}

/** A database of its own, dropped after the file's tests; gives its address. */
export async function freshDatabase(how = ""): Promise<string> {
  const name = freshSchema();
  await run(`create database "${name}" ${how}`);
  made.push(() => run(`drop database if exists "${name}" with (force)`));
  const url = new URL(postgresUrl);
  url.pathname = `/${name}`;
  return url.href;
}

/** A pool as an app would have one, ended after the file's tests. */
export function openPool(connectionString = postgresUrl, options: PoolConfig = {}): Pool {
  const pool = new Pool({ connectionString, ...options });
  made.push(() => (pool.ended ? Promise.resolve() : pool.end()));
  return pool;
}

/** A Kysely as an app would have one, which hears of connections that break. */
export function kyselyOn(connectionString: string, options: PoolConfig = {}): Kysely<object> {
  const pool = openPool(connectionString, options);
  pool.on("error", () => undefined).on("connect", (client) => client.on("error", () => undefined));
  return new Kysely<object>({ dialect: new PostgresDialect({ pool }) });
}

/** Runs one statement on a connection of its own, and gives its rows. */
export async function run(sql: string, connectionString = postgresUrl): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString });
  // Where backends are terminated at random, this one may be among them: its query then says so.
  client.on("error", () => undefined);
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end();
  }
}
