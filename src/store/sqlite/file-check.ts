import { lstatSync, realpathSync } from "node:fs";
import { EscrowMirrorError } from "../../shared/errors.ts";

/** The database, and what hangs on its name: its log, with commits that are nowhere else yet, and the index of that. */
const parts = ["", "-wal", "-shm"];

/**
 * Whether a restart would find what is open now. SQLite writes on into a file that was moved, deleted or replaced under
 * it, or
 * whose log was, and says that all is well; what was acknowledged would be gone.
 *
 * @param path as it was given: where a restart looks
 * @param file where that led when it was opened
 * @returns to be called after each commit: what was committed before the file went is told of as not stored, and comes again.
 *   Throws EscrowMirrorError `store-unavailable`
 */
export function checkFile(path: string, file: string): () => void {
  const known = new Map<string, string | undefined>([["", identityOf(file)]]);
  return () => {
    const place = placeOf(path);
    for (const part of parts) {
      const found = place === undefined ? undefined : identityOf(place + part);
      // The log is there from the first commit on.
      const expected = known.get(part) ?? known.set(part, found).get(part);
      if (found === undefined || found !== expected) throw gone(path + part);
    }
  };
}

/** Where a path leads now, as SQLite would follow it. */
function placeOf(path: string): string | undefined {
  try {
    return realpathSync.native(path);
  } catch {
    return undefined;
  }
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
