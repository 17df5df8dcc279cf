/** Another program that writes to the SQLite file of a mirror. */
import Database from "better-sqlite3";

/** Takes the write lock of a file as soon as the mirror, which works in the background of this thread, lets it. */
export async function takeWriteLock(file: string): Promise<{ release(): void }> {
  // Without waiting: that would hold up the very work that has the lock.
  const locker = new Database(file, { timeout: 0 });
  while (!isLocked(locker)) await new Promise((resolve) => setImmediate(resolve));
  return { release: () => locker.close() };
}

function isLocked(locker: Database.Database): boolean {
  try {
    locker.exec("begin immediate");
    return true;
  } catch (error) {
    if (error instanceof Database.SqliteError && error.code === "SQLITE_BUSY") return false;
    throw error;
  }
}
