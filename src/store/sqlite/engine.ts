import { EscrowMirrorError } from "../../shared/errors.ts";
import type { Lock } from "../../shared/lock.ts";
import { monotonicMs, sleep } from "../../shared/timers.ts";
import type { Engine, RowSession } from "../sql/session.ts";
import { createSqliteSession, guarded, isBusy, type SqliteHandle } from "./handle.ts";

export interface SqliteConnections {
  readonly description: string;
  readonly writer: SqliteHandle;
  /** Sees only what is committed; the writer itself where the database lives in memory. */
  readonly reader: SqliteHandle;
  /** What we opened ourselves, the writer last. */
  readonly owned: readonly Closable[];
  /** Guards the writer against a second transaction of this process. */
  readonly writeLock: Lock;
  readonly readLock: Lock;
  readonly busyTimeoutMs: number;
}

export interface Closable {
  close(): unknown;
}

/** Transactions and reads on SQLite (WAL, one writer of all processes at a time). */
export function createSqliteEngine(connections: SqliteConnections): Engine<RowSession> {
  const { writer, reader, writeLock, readLock, owned, busyTimeoutMs } = connections;
  const writing = createSqliteSession(writer);
  const reading = reader === writer ? writing : createSqliteSession(reader);
  const transaction = <T>(work: (session: RowSession) => Promise<T>): Promise<T> =>
    writeLock.run(async () => {
      await beginImmediate(writer, busyTimeoutMs);
      return inTransaction(writer, writing, work);
    });
  return {
    description: connections.description,
    transaction,
    // The write lock is one for all processes.
    migration: transaction,

    read: (work) =>
      readLock.run(async () => {
        await reading.run("begin", []);
        return inTransaction(reader, reading, work);
      }),

    close: async () => {
      const release = [
        await writeLock.acquire(),
        ...(readLock === writeLock ? [] : [await readLock.acquire()]),
      ];
      const causes = closeAll(owned);
      for (const each of release) each();
      if (causes.length > 0) throw notClosed(connections.description, causes);
    },
  };
}

/** Closes each, whatever the others do, and gives what was in the way. */
export function closeAll(handles: readonly Closable[]): unknown[] {
  const causes: unknown[] = [];
  for (const handle of handles) {
    try {
      handle.close();
    } catch (cause) {
      causes.push(cause);
    }
  }
  return causes;
}

function notClosed(store: string, causes: readonly unknown[]): EscrowMirrorError {
  const reasons = causes.map((cause) => (cause instanceof Error ? cause.message : String(cause)));
  const message = `${store} keeps a connection open that can't be closed: ${reasons.join("; ")}`;
  return new EscrowMirrorError("store-unavailable", message, { cause: causes[0] });
}

/**
 * Runs `step` until the database is free. It waits without blocking the process: SQLite's own busy time-out would
 * hold up everything else that runs here.
 */
export async function whenFree<T>(step: () => T, busyTimeoutMs: number): Promise<T> {
  const deadline = monotonicMs() + busyTimeoutMs;
  for (let waitMs = 1; ; waitMs = Math.min(waitMs * 2, 25)) {
    try {
      return step();
    } catch (error) {
      if (!isBusy(error) || monotonicMs() >= deadline) return guarded(() => rethrow(error));
      await sleep(waitMs * (0.5 + Math.random() / 2));
    }
  }
}

/** The write lock is taken at once: a reader that upgrades later is refused without any waiting (SQLITE_BUSY). */
async function beginImmediate(handle: SqliteHandle, busyTimeoutMs: number): Promise<void> {
  refuseInTransaction(handle);
  const begin = guarded(() => handle.prepare("begin immediate"));
  await whenFree(() => begin.run(), busyTimeoutMs);
}

/** What we wrote would stand or fall with its owner's transaction. */
export function refuseInTransaction(handle: SqliteHandle): void {
  if (!handle.inTransaction) return;
  throw new EscrowMirrorError("store-unavailable", "the SQLite handle is inside a transaction of its owner");
}

async function inTransaction<T>(
  handle: SqliteHandle,
  session: RowSession,
  work: (session: RowSession) => Promise<T>,
): Promise<T> {
  try {
    const result = await work(session);
    await session.run("commit", []);
    return result;
  } catch (error) {
    // SQLite has already rolled back after some faults (disk full, I/O).
    if (handle.inTransaction) await session.run("rollback", []);
    throw error;
  }
}

function rethrow(error: unknown): never {
  throw error;
}
