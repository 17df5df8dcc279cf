/** Connections that an app's own Kysely lends. It is typed by shape, so any version fits. */
import type { CompiledQuery } from "kysely";
import type { TimeLeft } from "../../shared/within.ts";
import { answered, ignore, inTime, type Connection, type Connections } from "./connection.ts";

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
