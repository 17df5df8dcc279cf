import { EscrowMirrorError } from "../../shared/errors.ts";
import { createLock } from "../../shared/lock.ts";
import { sleep } from "../../shared/timers.ts";
import { countdownFrom, within, type Countdown } from "../../shared/within.ts";
import { toUnavailable } from "./faults.ts";
import { ignore, type Connections } from "./connection.ts";
import type { SqlValue } from "../sql/codec.ts";
import type { ArraySession, Engine } from "../sql/session.ts";
import { createSession, guarded, type Kind, type TransactionProgress } from "./session.ts";

export interface PostgresEngineParts {
  readonly description: string;
  readonly connections: Connections;
  /** How long a transaction or a read may take, with every wait and every try in it. */
  readonly deadlineMs: number;
  /** Names the lock that migrations take: one for each place of tables. */
  readonly migrationLock: string;
}

interface Asked {
  readonly kind: Kind;
  /** For the whole, not for one of its statements: many short waits make a long one. */
  readonly countdown: Countdown;
}

interface Attempt extends Asked {
  readonly progress: TransactionProgress;
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
