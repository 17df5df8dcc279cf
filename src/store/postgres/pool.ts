/** The parts of `pg` and of the app's Kysely that the store uses. They are typed by shape, so that any copy fits. */
import type { CompiledQuery, QueryResult } from "kysely";
import type { SqlValue } from "../sql/codec.ts";
import { within, type TimeLeft } from "../../shared/within.ts";
import { lateAnswer } from "./faults.ts";

/** A pool of `pg`. */
export interface PgPool {
  /** Where it connects to, for messages. */
  readonly options?: {
    /** The address. */
    readonly connectionString?: string | undefined;
    /** The host. */
    readonly host?: string | undefined;
    /** The port. */
    readonly port?: number | undefined;
    /** The database. */
    readonly database?: string | undefined;
    /** How many connections the pool may open. */
    readonly max?: number | undefined;
  };
  /** Lends a client. */
  connect(callback: (error: Error | undefined, client: PgClient | undefined) => void): void;
  /** Adds a listener for errors of idle clients. */
  on(event: "error", listener: (error: Error) => void): unknown;
  /** Closes all connections. */
  end(): Promise<unknown>;
}

/** A client of `pg`. */
export interface PgClient {
  /** Runs a statement. */
  query(query: PgQuery): Promise<PgResult>;
  /** Whether queries are sent before the last one is answered. */
  readonly pipeline?: boolean;
  /** The connection to the server. */
  readonly connection?: {
    /** Its socket. */
    readonly stream?: {
      /** Ends the connection at once. */
      destroy(): void;
    };
  };
  /** Returns the parser of a type. */
  getTypeParser(oid: number, format?: "text"): (text: string) => unknown;
  /** Adds a listener for errors. */
  on(event: "error", listener: (error: Error) => void): unknown;
  /** Adds a listener for the end of the connection. */
  on(event: "end", listener: () => void): unknown;
  /** Adds a listener for notifications. */
  on(event: "notification", listener: (message: PgNotification) => void): unknown;
  /** Removes a listener. */
  removeListener(event: "error", listener: (error: Error) => void): unknown;
  /** `true` destroys the client instead of giving it back. */
  release(destroy?: boolean): void;
}

/** A message of NOTIFY. */
export interface PgNotification {
  /** Its text. */
  readonly payload?: string | undefined;
}

/** A statement as `pg` takes it. */
export interface PgQuery {
  /** The SQL. */
  readonly text: string;
  /** The parameters. */
  readonly values?: unknown[];
  /** `array`: rows come as arrays. */
  readonly rowMode?: "array";
  /** Parsers that replace those of the app. */
  readonly types?: {
    /** Returns the parser of a type. */
    getTypeParser(oid: number, format?: string): (text: string) => unknown;
  };
}

/** A result, or one for each statement of a text with several. */
export type PgResult = PgAnswer | PgAnswer[];

/** The result of one statement. */
export interface PgAnswer {
  /** The rows. */
  rows: unknown[];
  /** How many rows it gave or wrote. */
  rowCount?: number | null;
}

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

/** @param owned whether the pool is ours to end */
export function connectionsOfPool(pool: PgPool, deadlineMs: number, owned: boolean): Connections {
  keepAlive(pool);
  return {
    connect: async (timeLeft) => {
      const client = await inTime(Math.min(deadlineMs, timeLeft()), take(pool), (late) =>
        giveBack(late, false),
      );
      return lend(client, timeLeft);
    },
    close: async () => {
      if (owned) await inTime(deadlineMs, pool.end()).catch(ignore);
    },
  };
}

function inTime<T>(ms: number, work: Promise<T>, late?: (value: T) => void): Promise<T> {
  return within(ms, work, noConnection, late);
}

function noConnection(): Error {
  return lateAnswer("gave no connection in time: is its pool exhausted, or does the server hang?");
}

/** As a pool says it that has a time-out of its own. */
const timeOuts = /timeout exceeded when trying to connect|due to connection timeout|^timeout expired/;

/** A statement is cancelled by the server when there is no time left: its answer may come a little later than that. */
const graceMs = 1000;

function answered<T>(timeLeft: TimeLeft, answer: Promise<T>): Promise<T> {
  const ms = timeLeft() + graceMs;
  return within(ms, answer, () => lateAnswer(`did not answer within ${ms} ms: try again`));
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
      if (client === undefined) return reject(toConnectFault(error));
      client.on("error", ignore);
      resolve(client);
    });
  });
}

function toConnectFault(error: Error | undefined): Error {
  if (error === undefined) return new Error("the pool gave no client");
  return timeOuts.test(error.message) ? noConnection() : error;
}

/** The pool listens to what it keeps; to what is destroyed nobody else does. */
export function giveBack(client: PgClient, failed: boolean): void {
  if (!failed) client.removeListener("error", ignore);
  client.release(failed);
}

function lend(client: PgClient, timeLeft: TimeLeft): Connection {
  const ask = async (text: string, values?: readonly SqlValue[]): Promise<PgAnswer | undefined> => {
    const query = { text, ...(values && { values: [...values] }), rowMode: "array", types } as const;
    const result = await answered(timeLeft, client.query(query));
    return Array.isArray(result) ? result.at(-1) : result;
  };
  return {
    pipelined: client.pipeline === true,
    query: async (sql, values) => rowsOf(await ask(sql, values)),
    write: async (sql, values) => (await ask(sql, values))?.rowCount ?? 0,
    script: async (statements) => rowsOf(await ask(statements.join("; "))),
    execute: async ({ sql, parameters }) => {
      const query = { text: sql, values: [...parameters], types: exactNumbers(client) };
      const result = (await answered(timeLeft, client.query(query))) as PgAnswer;
      return { rows: result.rows, numAffectedRows: BigInt(result.rowCount ?? 0) };
    },
    driver: client,
    release: (failed) => {
      giveBack(client, failed);
      // With statements under way it would wait for their answers, of a server that hangs for ever.
      if (failed && client.pipeline === true) client.connection?.stream?.destroy();
    },
  };
}

function rowsOf(answer: PgAnswer | undefined): unknown[][] {
  return (answer?.rows ?? []) as unknown[][];
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

/** `bigint` as a number where that is exact. Every other type as the pool's owner has it. */
export function exactNumbers(client: PgClient): NonNullable<PgQuery["types"]> {
  return {
    getTypeParser: (oid) => (oid === 20 ? toExactNumber : client.getTypeParser(oid, "text")),
  };
}

export function toExactNumber(text: string): number | string {
  const number = Number(text);
  return Number.isSafeInteger(number) ? number : text;
}

function asIs(text: string): string {
  return text;
}

/** A Kysely instance on `pg`, of any version. Its plugins are not applied to the mirror's statements. */
export interface HostKysely {
  /** The same instance without its plugins. */
  withoutPlugins(): HostKysely;
  /** Lends one connection. */
  connection(): {
    /** Runs `work` on it. */
    execute<T>(work: (db: HostKysely) => Promise<T>): Promise<T>;
  };
  /** Runs a statement. */
  executeQuery(query: HostQuery): Promise<{
    /** The rows. */
    readonly rows: unknown[];
    /** How many rows it wrote. */
    readonly numAffectedRows?: bigint;
  }>;
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
    connect: (timeLeft) =>
      inTime(Math.min(deadlineMs, timeLeft()), borrow(plain, timeLeft, toQuery), (late) =>
        late.release(false),
      ),
    close: async () => {},
  };
}

/**
 * Kysely lends a connection for as long as a function runs: until ours is released, and its last query has ended. It can't be
 * told to destroy one, so that what failed is undone before it goes back: else the app's own queries would run within
 * our transaction.
 */
function borrow(
  plain: HostKysely,
  timeLeft: TimeLeft,
  toQuery: (sql: string, values: unknown[]) => HostQuery,
): Promise<Connection> {
  return new Promise((resolve, reject) => {
    const work = async (db: HostKysely): Promise<void> => {
      let release!: (failed: boolean) => void;
      const released = new Promise<boolean>((done) => (release = done));
      let pending: Promise<unknown> = Promise.resolve();
      const execute: Connection["execute"] = ({ sql, parameters }) => {
        const running = db.executeQuery(toQuery(sql, [...parameters]));
        pending = running.catch(ignore);
        return answered(timeLeft, running);
      };
      const query: Connection["query"] = async (sql, values) => {
        const { rows } = await execute(toQuery(sql, [...values]));
        return rows.map((row) => Object.values(row as object));
      };
      const write: Connection["write"] = async (sql, values) =>
        Number((await execute(toQuery(sql, [...values]))).numAffectedRows ?? 0);
      resolve({ pipelined: false, query, write, script: inTurn(query), execute, driver: undefined, release });
      const failed = await released;
      await pending;
      if (failed) await db.executeQuery(toQuery("rollback", [])).catch(ignore);
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

function ignore(): void {}
