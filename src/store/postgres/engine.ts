import { EscrowMirrorError, isEscrowMirrorError } from "../../shared/errors.ts";
import { createLock } from "../../shared/lock.ts";
import { sleep } from "../../shared/timers.ts";
import { countdownFrom, within, type Countdown } from "../../shared/within.ts";
import { faultOf, lateAnswer, toFaultOf, toLentFault, toStoreFault, toUnavailable } from "./faults.ts";
import { ignore, type Connection, type Connections } from "./connection.ts";
import type { SqlValue } from "../sql/codec.ts";
import type { ArraySession, Engine, Session } from "../sql/session.ts";
import { isGoingBack } from "../sql/transaction-words.ts";

export interface PostgresEngineParts {
  readonly description: string;
  readonly connections: Connections;
  /** How long a transaction or a read may take, with every wait and every try in it. */
  readonly deadlineMs: number;
  /** Names the lock that migrations take: one for each place of tables. */
  readonly migrationLock: string;
}

/** How often a transaction is run before its sender is asked to try again. */
const triesMax = 5;
/** A migration may build an index of everything. */
const migrationMs = 3_600_000;

export interface PostgresEngine extends Engine<ArraySession> {
  /** Runs one statement that only reads, in no transaction: one round trip, for what is asked several times a second. */
  look(sql: string, values: readonly SqlValue[]): Promise<unknown[][]>;
}

/**
 * Transactions and reads on Postgres. A process writes through one connection at a time; any number of processes do at
 * once, so that what one locked another may wait for, or be refused: it then runs anew.
 */
export function createPostgresEngine(parts: PostgresEngineParts): PostgresEngine {
  const { description, connections, deadlineMs, migrationLock } = parts;
  const writeLock = createLock();
  const reads = new Set<Promise<unknown>>();
  let closed = false;

  const run = <T>(asked: Asked, work: (session: ArraySession) => Promise<T>): Promise<T> =>
    runAgain(description, asked, async (progress) => {
      if (closed) throw new EscrowMirrorError("closed", `${description} is closed, and the mirror with it`);
      return runOnce(connections, { ...asked, progress }, work);
    });

  /** Those of this process that write go one after the other, and the wait for one's turn counts. */
  const runAlone = async <T>(ms: number, work: (session: ArraySession) => Promise<T>): Promise<T> => {
    const countdown = countdownFrom(ms);
    const release = await within(ms, writeLock.acquire(), tooBusy, (free) => free());
    try {
      return await run({ kind: "write", countdown }, work);
    } finally {
      release();
    }
  };

  /** Whoever closes waits for it. */
  const tracked = async <T>(reading: Promise<T>): Promise<T> => {
    reads.add(reading);
    try {
      return await reading;
    } finally {
      reads.delete(reading);
    }
  };

  const tooBusy = (): Error =>
    new EscrowMirrorError(
      "store-unavailable",
      `${description} is busy: earlier transactions of this process took all the time`,
    );

  return {
    description,

    transaction: (work) => runAlone(deadlineMs, work),

    migration: (work) =>
      runAlone(migrationMs, async (session) => {
        await session.all("select pg_advisory_xact_lock(hashtextextended($1, 0))", [migrationLock]);
        return work(session);
      }),

    read: (work) => tracked(run({ kind: "read", countdown: countdownFrom(deadlineMs) }, work)),

    look: (sql, values) => {
      const work = (session: ArraySession) => session.all(sql, values);
      return tracked(run({ kind: "look", countdown: countdownFrom(deadlineMs) }, work));
    },

    close: () =>
      writeLock.run(async () => {
        await Promise.allSettled(reads);
        if (!closed) await connections.close();
        closed = true;
      }),
  };
}

type Kind = "write" | "read" | "look";

/** Where a transaction stands, for what its failure means. */
interface TransactionProgress {
  /** Where the database is. */
  readonly store: string;
  /** A failure that was not undone: a commit would silently be a rollback. */
  failed: Error | undefined;
  /** The connection is of no more use. */
  lost: boolean;
  /** The commit was sent: whether it happened is not known when the connection breaks now. */
  committing: boolean;
  /** The same transaction may go through at once: another was in its way, or its connection broke before the commit. */
  again: boolean;
}

interface Asked {
  readonly kind: Kind;
  /** For the whole, not for one of its statements: many short waits make a long one. */
  readonly countdown: Countdown;
}

interface Attempt extends Asked {
  readonly progress: TransactionProgress;
}

/** A bounded number of tries, and between them a wait in which whoever was in the way gets on. */
async function runAgain<T>(
  store: string,
  { countdown }: Asked,
  once: (progress: TransactionProgress) => Promise<T>,
): Promise<T> {
  for (let tried = 1; ; tried++) {
    const progress: TransactionProgress = {
      store,
      failed: undefined,
      lost: false,
      committing: false,
      again: false,
    };
    try {
      return await once(progress);
    } catch (error) {
      const pauseMs = 2 ** tried * 5 * (0.5 + Math.random());
      if (tried === triesMax || !progress.again || countdown.timeLeft() <= pauseMs) throw error;
      await sleep(pauseMs);
    }
  }
}

async function runOnce<T>(
  connections: Connections,
  { kind, countdown, progress }: Attempt,
  work: (session: ArraySession) => Promise<T>,
): Promise<T> {
  const connection = await guarded(progress, () => connections.connect(countdown.timeLeft), toUnavailable);
  const session = createSession(connection, countdown, progress);
  const isAlone = kind === "look";
  try {
    if (!isAlone) {
      const begun = session.begin(kind, countdown.timeLeft());
      // Waited for: after a "begin" that failed, every statement would commit by itself. A read fails at its end then.
      if (kind === "write") await begun;
      else begun.catch(ignore);
    }
    const result = await work(session);
    if (!isAlone) await session.commit();
    connection.release(false);
    return result;
  } catch (error) {
    if (!progress.lost && !isAlone) await session.rollback().catch(() => (progress.lost = true));
    connection.release(progress.lost);
    throw error;
  }
}

/**
 * Settings that end with the transaction, so that a pooler between us and the server may share the connection. What we read
 * is in the order of an index: by old statistics a sort of the whole table can look cheaper.
 */
function beginOf(kind: Kind, timeLeftMs: number): string[] {
  // A statement that hangs leaves time for the rollback and for naming the fault. 0 would mean no limit.
  const limitMs = Math.max(1, Math.ceil((timeLeftMs * 2) / 3));
  if (kind === "read")
    return [
      "begin isolation level repeatable read read only",
      `select
         set_config('statement_timeout', '${limitMs}', true),
         set_config('bytea_output', 'hex', true),
         set_config('enable_sort', 'off', true),
         set_config('enable_incremental_sort', 'off', true),
         set_config('jit', 'off', true)`,
    ];
  return [
    "begin isolation level read committed",
    `select
       current_setting('transaction_read_only'),
       set_config('synchronous_commit', 'on', true),
       set_config('statement_timeout', '${limitMs}', true),
       set_config('bytea_output', 'hex', true),
       set_config('idle_in_transaction_session_timeout', '${idleMs}', true)`,
  ];
}

/** A process that is stopped in the middle of a transaction holds its locks no longer than this. */
const idleMs = 30_000;

/** Runs a step on the connection; a fault of the store becomes `store-unavailable`. */
async function guarded<T>(
  progress: TransactionProgress,
  step: () => Promise<T>,
  toFault = toStoreFault,
): Promise<T> {
  try {
    return await step();
  } catch (error) {
    throw translate(error, progress, toFault);
  }
}

/** The first failure says why: what comes after it in the same transaction fails because of it. */
function translate(error: unknown, progress: TransactionProgress, toFault: typeof toStoreFault): Error {
  if (isEscrowMirrorError(error)) return (progress.failed ??= error);
  const fault = faultOf(error);
  progress.lost ||= fault === "late" || fault === "lost";
  if (progress.failed !== undefined) return progress.failed;
  progress.again = fault === "undone" || fault === "raced" || (fault === "lost" && !progress.committing);
  progress.failed = toFault(progress.store, error) ?? (error as Error);
  return progress.failed;
}

/** A session whose writes are not waited for before the commit. */
interface TransactionSession extends ArraySession {
  begin(kind: Kind, timeLeftMs: number): Promise<void>;
  commit(): Promise<void>;
  /** After all that was asked for: what came later would commit by itself. */
  rollback(): Promise<unknown>;
}

/**
 * Statements go out in the order of asking: at once where the driver may have several under way, else one after the
 * other.
 */
function createSession(
  connection: Connection,
  { timeLeft, pause }: Countdown,
  progress: TransactionProgress,
): TransactionSession {
  let last: Promise<unknown> = Promise.resolve();

  const inTurn = <T>(step: () => Promise<T>, toFault?: typeof toStoreFault): Promise<T> => {
    const guardedStep = (): Promise<T> => guarded(progress, step, toFault);
    const next = connection.pipelined ? guardedStep() : last.then(guardedStep);
    last = next.catch(() => undefined);
    return next;
  };

  /** Nothing begins when there is no time left: many short answers would take long. */
  const refuseLate = (): void => {
    if (timeLeft() === 0) throw lateAnswer("took too long: try again");
  };

  const refuseFailed = (): void => {
    if (progress.failed !== undefined) throw progress.failed;
  };

  /** A savepoint undoes failures after it, also one of a handler's own. */
  const forgive = (): void => void Object.assign(progress, { failed: undefined, again: false });

  const all: Session["all"] = async (sql, values) => {
    const undoes = isGoingBack(sql);
    const rows = await inTurn(async () => {
      if (progress.lost || !undoes) refuseFailed();
      refuseLate();
      return connection.query(sql, values);
    }, toFaultOf(sql));
    if (undoes) forgive();
    return rows;
  };

  const write = (sql: string, values: readonly SqlValue[], prove: (written: number) => void): Promise<void> =>
    inTurn(async () => {
      refuseFailed();
      refuseLate();
      prove(await connection.write(sql, values));
    }, toFaultOf(sql));

  return {
    all,
    run: async (sql, values) => {
      await all(sql, values);
    },
    send: (sql, values, prove = () => {}) => {
      write(sql, values, prove).catch(() => undefined);
    },
    execute: async (query) => {
      const result = await inTurn(() => connection.execute(query), toLentFault);
      if (isGoingBack(query.sql)) forgive();
      return result;
    },
    driver: connection.driver,
    pauseTime: pause,
    begin: (kind, timeLeftMs) =>
      inTurn(async () => {
        const [row] = await connection.script(beginOf(kind, timeLeftMs));
        if (row?.[0] === "on") throw Object.assign(new Error("the server is read-only"), { code: "25006" });
      }),
    commit: async () => {
      // A statement that nobody awaited may have failed, or have written fewer rows than it should.
      await last;
      refuseFailed();
      await inTurn(async () => {
        refuseLate();
        progress.committing = true;
        await connection.query("commit", []);
      });
    },
    rollback: () => inTurn(() => connection.query("rollback", [])),
  };
}
