/** Connections that a pool of `pg` lends. */
import type { TimeLeft } from "../../shared/within.ts";
import type { SqlValue } from "../sql/codec.ts";
import { answered, ignore, inTime, noConnection, type Connection, type Connections } from "./connection.ts";
import type { PgAnswer, PgClient, PgPool, PgQuery } from "./pg.ts";

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
 * Takes a client out of the pool. The pool stops listening to its errors at that moment, and an error that nobody listens to
 * ends the process. So our listener is added in the callback. After a promise it would be too late: a server that restarts
 * can cause an error in between.
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

/** As a pool says it that has a time-out of its own. */
const timeOuts = /timeout exceeded when trying to connect|due to connection timeout|^timeout expired/;

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
