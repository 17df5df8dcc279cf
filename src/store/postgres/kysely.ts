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
import { EscrowMirrorError } from "../../shared/errors.ts";
import { sleep } from "../../shared/timers.ts";
import { countdownFrom, within } from "../../shared/within.ts";
import { columnsOf } from "../sql/codec.ts";
import { refuseWrite } from "../sql/read-only.ts";
import { faultOf, isOutage, lateAnswer, toUnavailable } from "./faults.ts";
import type { HostKysely } from "./host-kysely.ts";
import type { PgPool } from "./pg.ts";
import { exactNumbers, giveBack, take, toExactNumber } from "./pool.ts";
import { tables, type TableName } from "../tables.ts";

/** A connection and the way to give it back. */
interface LentConnection {
  query(query: CompiledQuery): Promise<{ readonly rows: unknown[] }>;
  /** `true` for one that failed: what state it is in nobody knows. */
  release(failed: boolean): void;
}

/** How Kysely speaks to Postgres. */
export const language: Omit<Dialect, "createDriver"> = {
  createAdapter: () => new PostgresAdapter(),
  createIntrospector: (db) => new PostgresIntrospector(db),
  createQueryCompiler: () => new PostgresQueryCompiler(),
};

export interface ReadingParts {
  /** For messages: where the database is. */
  readonly store: string;
  readonly deadlineMs: number;
  readonly lend: () => Promise<LentConnection>;
}

export function readingDialect(reading: ReadingParts): Dialect {
  return { ...language, createDriver: () => createDriver(reading) };
}

/** A query that asks for a second connection while it holds the last one would wait for itself: no longer than this. */
const lendingMs = 8000;
/** A report may take long. A server that hangs would take for ever. */
const queryMs = 600_000;

function createDriver(reading: ReadingParts): Driver {
  const taken = new WeakMap<DatabaseConnection, Taken>();
  return {
    init: async () => {},
    acquireConnection: async () => {
      const connection = await acquire(reading);
      taken.set(connection, connection);
      return connection;
    },
    // It has begun already; a snapshot is kept for as long as a transaction asks for one.
    beginTransaction: async (connection, { isolationLevel }) => {
      const sql = `set transaction isolation level ${isolationLevel ?? "repeatable read"}`;
      await connection.executeQuery(CompiledQuery.raw(sql));
    },
    commitTransaction: async () => {},
    rollbackTransaction: async () => {},
    releaseConnection: async (connection) => taken.get(connection)?.end(),
    destroy: async () => {},
  };
}

/** Each use of a connection is a transaction that can't write, so that it holds behind a pooler too. */
interface Taken extends DatabaseConnection {
  end(): Promise<void>;
}

/**
 * A pool can lend a connection whose end it has not heard of yet. Nothing has been read on it, so another one is taken; in
 * the pause the pool hears of its dead ones.
 */
async function acquire(reading: ReadingParts): Promise<Taken> {
  const { timeLeft } = countdownFrom(Math.min(reading.deadlineMs, lendingMs));
  for (let tried = 1; ; tried++) {
    try {
      return await acquireOnce(reading, timeLeft());
    } catch (error) {
      const isLost = error instanceof Error && faultOf(error.cause) === "lost";
      if (!isLost || tried === triesMax || timeLeft() <= pauseMs) throw error;
      await sleep(pauseMs);
    }
  }
}

const triesMax = 3;
const pauseMs = 20;

async function acquireOnce({ store, lend }: ReadingParts, waitMs: number): Promise<Taken> {
  const place = `mirror.db on ${store}`;
  const lent = await within(waitMs, lend(), noConnection, (late) => late.release(false)).catch(
    (error: unknown) => {
      throw toUnavailable(place, faultOf(error) === "late" ? noConnection() : error);
    },
  );
  let lost = false;

  const ask = async (query: CompiledQuery, ms: number): Promise<{ readonly rows: unknown[] }> => {
    try {
      return await within(ms, lent.query(query), () => noAnswer(ms));
    } catch (error) {
      lost ||= isOutage(error);
      throw isOutage(error) ? toUnavailable(place, error) : error;
    }
  };

  const end = async (): Promise<void> => {
    if (!lost) await ask(CompiledQuery.raw("rollback"), waitMs).catch(() => (lost = true));
    lent.release(lost);
  };

  await ask(CompiledQuery.raw("begin read only"), waitMs).catch(async (error: unknown) => {
    await end();
    throw error;
  });
  return {
    executeQuery: async <R>(query: CompiledQuery): Promise<QueryResult<R>> => {
      refuseWrite(query);
      return { rows: (await ask(query, queryMs)).rows as R[] };
    },
    streamQuery: noStream,
    end,
  };
}

function noConnection(): Error {
  return lateAnswer(
    "got no connection in time: is the pool exhausted, or does the server hang? A transaction of mirror.db holds a connection until it ends. A query that is made inside it, but on mirror.db, needs a second connection: make it on the transaction, or give the pool more connections",
  );
}

function noAnswer(ms: number): Error {
  return lateAnswer(`did not answer within ${ms} ms: does the server hang? Read fewer rows at a time`);
}

export async function lendOfPool(pool: PgPool): Promise<LentConnection> {
  const client = await take(pool);
  let failed = false;
  const fail = (): void => {
    failed = true;
  };
  client.on("error", fail);
  return {
    query: async ({ sql, parameters }) => {
      const result = await client.query({ text: sql, values: [...parameters], types: exactNumbers(client) });
      return "rows" in result ? result : { rows: [] };
    },
    release: (isLost) => {
      client.removeListener("error", fail);
      giveBack(client, failed || isLost);
    },
  };
}

export function lendOfKysely(host: HostKysely): Promise<LentConnection> {
  return new Promise((resolve, reject) => {
    const work = async (db: HostKysely): Promise<void> => {
      let release!: (failed: boolean) => void;
      const released = new Promise<boolean>((done) => (release = done));
      let pending: Promise<unknown> = Promise.resolve();
      const query: LentConnection["query"] = async ({ sql, parameters }) => {
        const running = db.executeQuery(CompiledQuery.raw(sql, [...parameters]));
        pending = running.catch(() => undefined);
        const { rows } = await running;
        return { rows: rows.map((row) => withNumbers(row as Record<string, unknown>)) };
      };
      resolve({ query, release });
      const failed = await released;
      await pending;
      if (failed) await db.executeQuery(CompiledQuery.raw("rollback")).catch(() => undefined);
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
  const message = "mirror.db does not stream on Postgres: read in pages, by a key";
  throw new EscrowMirrorError("invalid-configuration", message);
}
