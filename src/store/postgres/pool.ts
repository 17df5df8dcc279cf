/** What we use of `pg` and of a host's Kysely, typed by shape so that any copy of either fits. */
import type { CompiledQuery } from "kysely";
import { clearTimeout, setTimeout } from "../../shared/timers.ts";
import type { SqlValue } from "../sql/codec.ts";
import { lateAnswer } from "./faults.ts";

/** A pool of `pg`. */
export interface PgPool {
  connect(callback: (error: Error | undefined, client: PgClient | undefined) => void): void;
  on(event: "error", listener: (error: Error) => void): unknown;
  end(): Promise<unknown>;
}

export interface PgClient {
  query(query: PgQuery): Promise<PgResult>;
  /** Whether queries are sent without waiting for the answers to those before. */
  readonly pipeline?: boolean;
  readonly connection?: { readonly stream?: { destroy(): void } };
  getTypeParser(oid: number, format?: "text"): (text: string) => unknown;
  on(event: "error", listener: (error: Error) => void): unknown;
  removeListener(event: "error", listener: (error: Error) => void): unknown;
  /** `true` destroys the client instead of giving it back. */
  release(destroy?: boolean): void;
}

export interface PgQuery {
  readonly text: string;
  readonly values?: unknown[];
  readonly rowMode?: "array";
  readonly types?: { getTypeParser(oid: number, format?: string): (text: string) => unknown };
}

/** Of several statements in one text: one result each. */
export type PgResult = { rows: unknown[]; rowCount?: number | null } | { rows: unknown[] }[];

/** One connection, ours until it is released. */
export interface Connection {
  /** Whether a statement may be asked for before the one before is answered. They then fail as a transaction's do. */
  readonly pipelined: boolean;
  /** Runs one statement, and gives its rows as arrays. */
  query(sql: string, values: readonly SqlValue[]): Promise<unknown[][]>;
  /** Runs statements without values in one round trip where it can, and gives the rows of the last. */
  script(statements: readonly string[]): Promise<unknown[][]>;
  /** Gives it back, or destroys it where it failed: what state it is in nobody knows. */
  release(failed: boolean): void;
}

export interface Connections {
  /** Waits no longer than the deadline; of a statement on the connection then no longer than `patienceMs`. */
  connect(patienceMs: number): Promise<Connection>;
  close(): Promise<void>;
}

/** @param owned whether the pool is ours to end */
export function connectionsOfPool(pool: PgPool, deadlineMs: number, owned: boolean): Connections {
  keepAlive(pool);
  return {
    connect: async (patienceMs) => {
      const client = await within(deadlineMs, take(pool), (late) => giveBack(late, false));
      return lend(client, patienceMs);
    },
    close: async () => {
      if (owned) await within(deadlineMs, pool.end()).catch(ignore);
    },
  };
}

/**
 * Without a listener, an idle connection that dies ends the process; the pool drops it by itself. The listener stays: an
 * app's pool lives on when we are closed.
 */
function keepAlive(pool: PgPool): void {
  if (!listenedTo.has(pool)) pool.on("error", ignore);
  listenedTo.add(pool);
}

const listenedTo = new WeakSet<PgPool>();

/**
 * A client of the pool that we listen to from the moment at which the pool no longer does: a promise would come later, and an
 * error in between, as of a server that is restarted, would end the process.
 */
export function take(pool: PgPool): Promise<PgClient> {
  return new Promise((resolve, reject) => {
    pool.connect((error, client) => {
      if (client === undefined) return reject(error ?? new Error("the pool gave no client"));
      client.on("error", ignore);
      resolve(client);
    });
  });
}

/** The pool listens to what it keeps; to what is destroyed nobody else does. */
export function giveBack(client: PgClient, failed: boolean): void {
  if (!failed) client.removeListener("error", ignore);
  client.release(failed);
}

function lend(client: PgClient, patienceMs: number): Connection {
  const ask = async (query: PgQuery): Promise<unknown[][]> => {
    const result = await within(patienceMs, client.query({ ...query, rowMode: "array", types }));
    const last = Array.isArray(result) ? result.at(-1) : result;
    return (last?.rows ?? []) as unknown[][];
  };
  return {
    pipelined: client.pipeline === true,
    query: (sql, values) => ask({ text: sql, values: [...values] }),
    script: (statements) => ask({ text: statements.join("; ") }),
    release: (failed) => {
      giveBack(client, failed);
      // With statements under way it would wait for their answers, of a server that hangs for ever.
      if (failed && client.pipeline === true) client.connection?.stream?.destroy();
    },
  };
}

/** Our columns are of these types. The pool's own parsers are left as they are, a host's changes of them too. */
const types = {
  getTypeParser: (oid: number): ((text: string) => unknown) => parsers.get(oid) ?? asIs,
};
const parsers = new Map<number, (text: string) => unknown>([
  [17, toBytes],
  [20, Number],
  [21, Number],
  [23, Number],
]);

function toBytes(text: string): Buffer {
  if (text.startsWith("\\x")) return Buffer.from(text.slice(2), "hex");
  throw new Error("bytea came in another form than hex: something set bytea_output within our transaction");
}

function asIs(text: string): string {
  return text;
}

/** A Kysely instance on `pg`, of any version. Its plugins are not applied to what we run. */
export interface HostKysely {
  withoutPlugins(): HostKysely;
  connection(): { execute<T>(work: (db: HostKysely) => Promise<T>): Promise<T> };
  executeQuery(query: HostQuery): Promise<{ readonly rows: unknown[] }>;
}

/** SQL as Kysely executes it. */
export type HostQuery = CompiledQuery;

/** @param toQuery makes of SQL what Kysely executes */
export function connectionsOfKysely(
  host: HostKysely,
  deadlineMs: number,
  toQuery: (sql: string, values: unknown[]) => HostQuery,
): Connections {
  const plain = host.withoutPlugins();
  return {
    connect: (patienceMs) =>
      within(deadlineMs, borrow(plain, patienceMs, toQuery), (late) => late.release(false)),
    close: async () => {},
  };
}

/** Kysely lends a connection for as long as a function runs: until ours is released, and its last query has ended. */
function borrow(
  plain: HostKysely,
  patienceMs: number,
  toQuery: (sql: string, values: unknown[]) => HostQuery,
): Promise<Connection> {
  return new Promise((resolve, reject) => {
    const work = async (db: HostKysely): Promise<void> => {
      let release!: () => void;
      const released = new Promise<void>((done) => (release = done));
      let pending: Promise<unknown> = Promise.resolve();
      const query = async (sql: string, values: readonly SqlValue[]): Promise<unknown[][]> => {
        const running = db.executeQuery(toQuery(sql, [...values]));
        pending = running.catch(ignore);
        const { rows } = await within(patienceMs, running);
        return rows.map((row) => Object.values(row as object));
      };
      resolve({ pipelined: false, query, script: inTurn(query), release });
      await released;
      await pending;
    };
    plain.connection().execute(work).catch(reject);
  });
}

function inTurn(query: Connection["query"]): Connection["script"] {
  return async (statements) => {
    let rows: unknown[][] = [];
    for (const sql of statements) rows = await query(sql, []);
    return rows;
  };
}

/** Waits no longer than `ms`; what comes later goes to `late`. */
async function within<T>(ms: number, work: Promise<T>, late?: (value: T) => void): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const deadline = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      work.then(late, ignore);
      reject(lateAnswer(ms));
    }, ms);
  });
  try {
    return await Promise.race([work, deadline]);
  } finally {
    clearTimeout(timer);
  }
}

function ignore(): void {}
