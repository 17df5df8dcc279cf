import { EscrowMirrorError } from "../../shared/errors.ts";
import { createPace } from "../../shared/pace.ts";
import type { Engine, RowSession } from "../sql/session.ts";
import type { SqliteConnections } from "./connections.ts";
import {
  closeAll,
  createSqliteSession,
  guarded,
  refuseInTransaction,
  whenFree,
  type Closable,
  type SqliteHandle,
} from "./handle.ts";

export interface SqliteEngineParts extends SqliteConnections {
  readonly description: string;
  /** The connections that the store opened, the writer last. */
  readonly owned: readonly Closable[];
  readonly busyTimeoutMs: number;
}

/** Transactions and reads on SQLite (WAL, one writer of all processes at a time). */
export function createSqliteEngine(parts: SqliteEngineParts): Engine<RowSession> {
  const { description, writer, reader, writeLock, readLock, owned, busyTimeoutMs, fileCheck } = parts;
  // The driver waits for nothing: whoever does one thing after another would hold everybody else up.
  const pace = createPace();
  const writing = createSqliteSession(writer);
  const reading = reader === writer ? writing : createSqliteSession(reader);
  const transaction = <T>(work: (session: RowSession) => Promise<T>): Promise<T> =>
    writeLock.run(async () => {
      await pace();
      await beginImmediate(writer, busyTimeoutMs);
      return inTransaction(writer, writing, async (session) => {
        fileCheck?.begun();
        return work(session);
      }).finally(() => fileCheck?.ended());
    });
  return {
    description,
    transaction,
    // The write lock is one for all processes.
    migration: transaction,

    read: (work) =>
      readLock.run(async () => {
        await pace();
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
      if (causes.length > 0) throw notClosed(description, causes);
    },
  };
}

function notClosed(store: string, causes: readonly unknown[]): EscrowMirrorError {
  const reasons = causes.map((cause) => (cause instanceof Error ? cause.message : String(cause)));
  const message = `${store} keeps a connection open that can't be closed: ${reasons.join("; ")}`;
  return new EscrowMirrorError("store-unavailable", message, { cause: causes[0] });
}

/** The write lock is taken at once: a reader that upgrades later is refused without any waiting (SQLITE_BUSY). */
async function beginImmediate(handle: SqliteHandle, busyTimeoutMs: number): Promise<void> {
  refuseInTransaction(handle);
  const begin = guarded(() => handle.prepare("begin immediate"));
  await whenFree(() => begin.run(), busyTimeoutMs);
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
