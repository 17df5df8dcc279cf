import { lstatSync, realpathSync } from "node:fs";
import { EscrowMirrorError } from "../../shared/errors.ts";
import { fileOf } from "./driver.ts";
import { guarded, type SqliteHandle } from "./handle.ts";
import { createLogCheck } from "./log-check.ts";

/** Looks after the files of a database around each transaction. */
export interface FileCheck {
  /** Call it inside the transaction, before its first write. */
  begun(): void;
  /**
   * Call it when the transaction is over. What was committed before the file went is told of as not stored, and comes again.
   *
   * @throws EscrowMirrorError `store-unavailable` if a restart would not find what is open now
   */
  ended(): void;
}

/** The database, and what hangs on its name: its log, with commits that are nowhere else yet, and the index of that. */
const parts = ["", "-wal", "-shm"];

/**
 * SQLite writes on into a file that was moved, deleted or replaced under it, or whose log was, and says that all is well; what
 * was acknowledged would be gone.
 *
 * @param path as it was given: where a restart looks
 * @param writer the connection that is looked after
 * @param watcher a connection that does nothing else
 */
export function createFileCheck(path: string, writer: SqliteHandle, watcher: SqliteHandle): FileCheck {
  const file = fileOf(watcher);
  const known = new Map<string, string | undefined>([["", identityOf(file)]]);
  const log = createLogCheck();
  const changesOf = reading(writer, "select total_changes()");
  const versionOf = reading(watcher, "pragma data_version");
  let changes: unknown;
  let version: unknown;
  return {
    begun: () => {
      changes = changesOf();
      version = versionOf();
      log.before(`${placeOf(path)}-wal`);
    },
    ended: () => {
      // Each sign alone can mislead. `total_changes` also counts an update that sets the values that are there already, and such
      // a commit writes nothing. `data_version` changes with each commit that writes, but also if another process commits, or
      // starts the log over, just after our transaction.
      const hasWritten = changesOf() !== changes && versionOf() !== version;
      const place = placeOf(path);
      for (const part of parts) {
        const found = identityOf(place + part);
        // The log is there from the first commit on.
        const expected = known.get(part) ?? known.set(part, found).get(part);
        if (found === undefined || found !== expected) throw gone(path + part);
      }
      if (!log.holds(`${place}-wal`, hasWritten)) throw overwritten(`${path}-wal`);
      if (isEmpty(place)) throw overwritten(path);
    },
  };
}

/** Reads the one value of a statement. */
function reading(handle: SqliteHandle, sql: string): () => unknown {
  const statement = handle.prepare(sql);
  statement.raw(true);
  return () => guarded(() => (statement.all()[0] as unknown[])[0]);
}

/** Where a path leads now, as SQLite would follow it. The path itself if it leads nowhere. */
function placeOf(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    return path;
  }
}

/** A database is never empty once it has a log. The next process would take it for a new one, and delete the log. */
function isEmpty(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.size === 0;
}

function identityOf(path: string): string | undefined {
  try {
    const { dev, ino } = lstatSync(path, { bigint: true });
    return `${dev}:${ino}`;
  } catch {
    return undefined;
  }
}

function gone(path: string): EscrowMirrorError {
  return new EscrowMirrorError(
    "store-unavailable",
    `${path} is not the file that this process has open: it was moved, deleted or replaced. Put it back, or restart the process to use another file`,
  );
}

function overwritten(path: string): EscrowMirrorError {
  return new EscrowMirrorError(
    "store-unavailable",
    `${path} was emptied or overwritten by another program while this process had it open. Stop the process, restore the database from a backup, and start it again`,
  );
}
