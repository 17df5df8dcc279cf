/** The connections of a store, and how they are set. */
import { createLock, type Lock } from "../../shared/lock.ts";
import { fileOf, openBeside, type Opener } from "./driver.ts";
import { createFileCheck, type FileCheck } from "./file-check.ts";
import { guarded, refuseInTransaction, whenFree, type Closable, type SqliteHandle } from "./handle.ts";
import { browseAlone, browseShared, type Browsing } from "./kysely.ts";

export interface SqliteConnections {
  readonly writer: SqliteHandle;
  /** Sees only what is committed; the writer itself where the database lives in memory. */
  readonly reader: SqliteHandle;
  /** Guards the writer against a second transaction of this process. */
  readonly writeLock: Lock;
  readonly readLock: Lock;
  /** The connections of `mirror.db`. */
  readonly browsing: Browsing;
  /** Absent where the database lives in memory. */
  readonly fileCheck: FileCheck | undefined;
}

/**
 * @param path as it was given, whole; `undefined` where a handle was
 * @param owned is given what was opened, the writer last, whether or not the rest works out
 */
export async function connect(
  open: Opener,
  path: string | undefined,
  owned: Closable[],
  busyTimeoutMs: number,
): Promise<SqliteConnections> {
  const writer = await whenFree(open, busyTimeoutMs);
  if (open.lent === true) refuseInTransaction(writer);
  else {
    owned.unshift(writer);
    await whenFree(() => setOwn(writer), busyTimeoutMs);
  }
  await whenFree(() => configure(writer), busyTimeoutMs);
  const writeLock = createLock();
  if (writer.memory) return inMemory(writer, writeLock);
  const watcher = openBeside(writer, true);
  owned.unshift(watcher);
  const fileCheck = createFileCheck(path ?? fileOf(writer), writer, watcher);
  return { writer, writeLock, ...openReaders(writer, owned), fileCheck };
}

/** The one connection that such a database has. */
function inMemory(writer: SqliteHandle, writeLock: Lock): SqliteConnections {
  const browsing = browseShared(writer, writeLock);
  return { writer, reader: writer, writeLock, readLock: writeLock, browsing, fileCheck: undefined };
}

/** One connection for the mirror's own reads, and one for those of `mirror.db`, which may take as long as they like. */
function openReaders(writer: SqliteHandle, owned: Closable[]) {
  const reader = openBeside(writer, true);
  owned.unshift(reader);
  const browser = openBeside(writer, true);
  const browsing = browseAlone(browser, createLock());
  owned.unshift({
    close: () => {
      browsing.endStreams();
      browser.close();
    },
  });
  return { reader, readLock: createLock(), browsing };
}

/** Settings that the owner of a handle decides. */
function setOwn(own: SqliteHandle): void {
  // The undo data of a statement would go to temporary files, hundreds of writes a commit, and a container
  // may have no place for them. (On another's handle it drops the temporary tables.)
  own.pragma("temp_store = memory");
  // Pruned pages can go back to the disk. Only a file without any page takes it: one that has tables stays as it is.
  if (own.pragma("page_count", { simple: true }) === 0) own.pragma("auto_vacuum = incremental");
  // Deleted data is overwritten.
  own.pragma("secure_delete = on");
}

/** Durable before acknowledged: a commit is on the disk when it returns (semantics §1.1). */
function configure(handle: SqliteHandle): void {
  guarded(() => {
    handle.pragma("journal_mode = wal");
    handle.pragma("synchronous = full");
    handle.pragma("cache_size = -32768");
    // Ids are random: every batch writes to pages all over their indexes. With a longer WAL (16 MiB) a page that several
    // batches wrote to goes to the database once.
    handle.pragma("wal_autocheckpoint = 4096");
    // After a burst the WAL file shrinks again to this.
    handle.pragma("journal_size_limit = 67108864");
  });
}
