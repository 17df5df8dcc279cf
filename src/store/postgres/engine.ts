import { EscrowMirrorError } from "../../shared/errors.ts";
import { createLock } from "../../shared/lock.ts";
import { sleep } from "../../shared/timers.ts";
import { isLate, isLost, isUndone, isUniqueRace, toUnavailable, toStoreFault } from "./faults.ts";
import type { Connection, Connections } from "./pool.ts";
import type { ArraySession, Engine, Session } from "../sql/session.ts";

export interface PostgresEngineParts {
  readonly description: string;
  readonly connections: Connections;
  /** How long one statement may take. */
  readonly deadlineMs: number;
  /** Names the lock that migrations take: one for each place of tables. */
  readonly migrationLock: string;
}

/** How often a transaction is run before its sender is asked to come again. */
const triesMax = 5;
const migrationMs = 600_000;
/** How long a statement may be late before its connection is given up: the server cancels it at the deadline itself. */
const graceMs = 2000;

/**
 * Transactions and reads on Postgres. A process writes through one connection at a time; any number of processes do at
 * once, so that what one locked another may wait for, or be refused: it then runs anew.
 */
export function createPostgresEngine(parts: PostgresEngineParts): Engine<ArraySession> {
  const { description, connections, deadlineMs, migrationLock } = parts;
  const writeLock = createLock();
  const reads = new Set<Promise<unknown>>();
  let closed = false;

  const run = <T>(kind: Kind, patienceMs: number, work: (session: ArraySession) => Promise<T>): Promise<T> =>
    runAgain(description, async (progress) => {
      if (closed) throw new EscrowMirrorError("closed", `${description} is closed, and the mirror with it`);
      return runOnce(connections, { kind, patienceMs, progress }, work);
    });

  return {
    description,

    transaction: (work) => writeLock.run(() => run("write", deadlineMs, work)),

    migration: (work) =>
      writeLock.run(() =>
        run("write", migrationMs, async (session) => {
          await session.all("select pg_advisory_xact_lock(hashtextextended($1, 0))", [migrationLock]);
          return work(session);
        }),
      ),

    read: (work) => {
      const reading = run("read", deadlineMs, work).finally(() => reads.delete(reading));
      reads.add(reading);
      return reading;
    },

    close: () =>
      writeLock.run(async () => {
        await Promise.allSettled(reads);
        if (!closed) await connections.close();
        closed = true;
      }),
  };
}

type Kind = "write" | "read";

/** Where a transaction stands, for what its failure means. */
interface Progress {
  /** Where the database is. */
  readonly store: string;
  /** What failed in it and was not undone: a commit would be a rollback, without saying so. */
  failed: Error | undefined;
  /** The connection is of no more use. */
  lost: boolean;
  /** The commit was sent: whether it happened is not known when the connection breaks now. */
  committing: boolean;
  /** The same transaction may go through at once: another was in its way, or its connection broke before the commit. */
  again: boolean;
}

interface Attempt {
  readonly kind: Kind;
  readonly patienceMs: number;
  readonly progress: Progress;
}

/** A bounded number of tries, and between them a wait in which whoever was in the way gets on. */
async function runAgain<T>(store: string, once: (progress: Progress) => Promise<T>): Promise<T> {
  for (let tried = 1; ; tried++) {
    const progress: Progress = { store, failed: undefined, lost: false, committing: false, again: false };
    try {
      return await once(progress);
    } catch (error) {
      if (tried === triesMax || !progress.again) throw error;
      await sleep(2 ** tried * 5 * (0.5 + Math.random()));
    }
  }
}

async function runOnce<T>(
  connections: Connections,
  { kind, patienceMs, progress }: Attempt,
  work: (session: ArraySession) => Promise<T>,
): Promise<T> {
  const connection = await guarded(progress, () => connections.connect(patienceMs + graceMs), toUnavailable);
  const session = createSession(connection, progress);
  try {
    // Waited for: after a "begin" that failed, every statement would commit by itself.
    await session.begin(kind, patienceMs);
    const result = await work(session);
    await session.commit();
    connection.release(false);
    return result;
  } catch (error) {
    await undo(connection, progress);
    throw error;
  }
}

/** Settings that end with the transaction, so that a pooler between us and the server may share the connection. */
function beginOf(kind: Kind, patienceMs: number): string[] {
  if (kind === "read")
    return [
      "begin isolation level repeatable read read only",
      `select
         set_config('statement_timeout', '${patienceMs}', true),
         set_config('bytea_output', 'hex', true)`,
    ];
  return [
    "begin isolation level read committed",
    `select
       current_setting('transaction_read_only'),
       set_config('synchronous_commit', 'on', true),
       set_config('statement_timeout', '${patienceMs}', true),
       set_config('bytea_output', 'hex', true),
       set_config('idle_in_transaction_session_timeout', '${idleMs}', true)`,
  ];
}

/** A process that is stopped in the middle of a transaction holds its locks no longer than this. */
const idleMs = 60_000;

async function undo(connection: Connection, progress: Progress): Promise<void> {
  if (!progress.lost) await connection.query("rollback", []).catch(() => (progress.lost = true));
  connection.release(progress.lost);
}

/** Runs a step on the connection; a fault of the store becomes `store-unavailable`. */
async function guarded<T>(progress: Progress, step: () => Promise<T>, toFault = toStoreFault): Promise<T> {
  try {
    return await step();
  } catch (error) {
    throw translate(error, progress, toFault);
  }
}

/** The first failure says why: what comes after it in the same transaction fails because of it. */
function translate(error: unknown, progress: Progress, toFault: typeof toStoreFault): Error {
  progress.lost ||= isLate(error) || isLost(error);
  if (progress.failed !== undefined) return progress.failed;
  progress.again = isUndone(error) || isUniqueRace(error) || (isLost(error) && !progress.committing);
  progress.failed = toFault(progress.store, error) ?? (error as Error);
  return progress.failed;
}

/** A session whose writes are not waited for before the commit. */
interface TransactionSession extends ArraySession {
  begin(kind: Kind, patienceMs: number): Promise<void>;
  commit(): Promise<void>;
}

/**
 * Statements go out in the order of asking: at once where the driver may have several under way, else one after the
 * other.
 */
function createSession(connection: Connection, progress: Progress): TransactionSession {
  let last: Promise<unknown> = Promise.resolve();

  const inTurn = <T>(step: () => Promise<T>): Promise<T> => {
    const guardedStep = (): Promise<T> => guarded(progress, step);
    const next = connection.pipelined ? guardedStep() : last.then(guardedStep);
    last = next.catch(() => undefined);
    return next;
  };

  const all: Session["all"] = async (sql, values) => {
    const rows = await inTurn(() => connection.query(sql, values));
    // What failed since the savepoint is undone with it.
    if (sql.startsWith("rollback to")) Object.assign(progress, { failed: undefined, again: false });
    return rows;
  };

  return {
    all,
    run: async (sql, values) => {
      await all(sql, values);
    },
    send: (sql, values) => {
      all(sql, values).catch(() => undefined);
    },
    begin: (kind, patienceMs) =>
      inTurn(async () => {
        const [row] = await connection.script(beginOf(kind, patienceMs));
        if (row?.[0] === "on") throw Object.assign(new Error("the server is read-only"), { code: "25006" });
      }),
    commit: async () => {
      if (progress.failed !== undefined) throw progress.failed;
      await inTurn(() => {
        progress.committing = true;
        return connection.query("commit", []);
      });
      // What was not waited for may have failed: the commit was a rollback then, without saying so.
      if (progress.failed !== undefined) throw progress.failed;
    },
  };
}
