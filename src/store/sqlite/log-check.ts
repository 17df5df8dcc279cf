/**
 * Whether a restart would find the last commit in the write-ahead log. It reads the headers in that file
 * (sqlite.org/fileformat2.html, "WAL File Format").
 */
import { closeSync, fstatSync, openSync, readSync } from "node:fs";

export interface LogCheck {
  /** Call it inside a transaction, before its first write. */
  before(path: string): void;
  /**
   * Whether the commit since `before` is in the log, or in the database because the log has started over. Without a commit:
   * whether the last one is still there.
   */
  holds(path: string, hasWritten: boolean): boolean;
}

/**
 * SQLite goes by its memory of the log, and writes on behind the end that it remembers. If somebody empties the file under
 * it, or copies an older log over it, all seems well until the restart, which finds nothing.
 */
export function createLogCheck(): LogCheck {
  let known = noLog;
  // For good: SQLite writes what is left of such a log back to the database, and begins a log that seems whole.
  let isDamaged = false;
  return {
    before: (path) => {
      known = inFile(path, (file) => {
        const header = readHeader(file);
        if (header !== known.header) return lastCommit(file, startOf(header));
        isDamaged ||= !isThere(file, known);
        return known;
      });
    },
    holds: (path, hasWritten) => {
      if (!hasWritten || isDamaged) return !isDamaged;
      const { header, end } = known;
      let isOver = true;
      known = inFile(path, (file) => {
        const found = readHeader(file);
        const last = lastCommit(file, found === header ? known : startOf(found));
        isOver = fstatSync(file).size === 0 || readHeader(file) !== found;
        return last;
      });
      // A log starts over when all that it held is in the database.
      const isFound = known.header === header ? known.end > end : known.header !== "";
      // Another process may end it in this very moment.
      isDamaged = !isFound && !isOver;
      return isFound;
    },
  };
}

/** Where a commit ends in the log. */
interface Mark {
  /** The log's own header. A log that starts over has another. `""`: there is none. */
  readonly header: string;
  readonly frameBytes: number;
  readonly end: number;
  /** The header of the frame that ends there. `""` at the start. */
  readonly frame: string;
}

const noLog: Mark = { header: "", frameBytes: 0, end: 0, frame: "" };

const headerBytes = 32;
const frameHeaderBytes = 24;
/** The last bit tells how checksums are written. */
const magicNumbers: ReadonlySet<number> = new Set([0x377f0682, 0x377f0683]);

/** Of a database's files only the log may be opened beside SQLite: to close another would drop the locks of this process. */
function inFile(path: string, read: (file: number) => Mark): Mark {
  let file: number | undefined;
  try {
    file = openSync(path, "r");
    return read(file);
  } catch {
    return noLog;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

function startOf(header: string): Mark {
  if (header === "") return noLog;
  const pageBytes = Buffer.from(header, "latin1").readUInt32BE(8);
  return { header, frameBytes: frameHeaderBytes + pageBytes, end: headerBytes, frame: "" };
}

function readHeader(file: number): string {
  const header = readAt(file, 0, headerBytes);
  return header !== undefined && magicNumbers.has(header.readUInt32BE(0)) ? toText(header) : "";
}

function isThere(file: number, { end, frame, frameBytes }: Mark): boolean {
  if (fstatSync(file).size < end) return false;
  return frame === "" || toText(readAt(file, end - frameBytes, frameHeaderBytes)) === frame;
}

/** The last commit behind a known one. If that one is gone, so is what was written behind it. */
function lastCommit(file: number, from: Mark): Mark {
  const { header, frameBytes } = from;
  if (header === "" || !isThere(file, from)) return from;
  const salts = header.slice(16, 24);
  const frameAt = (index: number): string =>
    toText(readAt(file, from.end + index * frameBytes, frameHeaderBytes));
  // A log that started over still has frames of before behind its own, with other salts.
  const frames = countWhile((index) => frameAt(index).slice(8, 16) === salts);
  // A transaction that was too large for the memory, and was rolled back, leaves frames without a commit.
  for (let index = frames - 1; index >= 0; index--) {
    const frame = frameAt(index);
    if (isCommit(frame)) return { ...from, end: from.end + (index + 1) * frameBytes, frame };
  }
  return from;
}

/** The size of the database, which only a commit has. */
function isCommit(frame: string): boolean {
  return frame.slice(4, 8) !== "\0\0\0\0";
}

/** How many numbers from 0 on meet a condition that none meets behind the first that does not. */
function countWhile(meets: (index: number) => boolean): number {
  let below = 0;
  let above = 1;
  while (meets(above - 1)) [below, above] = [above, above * 2];
  while (above - below > 1) {
    const middle = Math.floor((below + above) / 2);
    if (meets(middle - 1)) below = middle;
    else above = middle;
  }
  return below;
}

function readAt(file: number, offset: number, length: number): Buffer | undefined {
  const bytes = Buffer.allocUnsafe(length);
  return readSync(file, bytes, 0, length, offset) === length ? bytes : undefined;
}

function toText(bytes: Buffer | undefined): string {
  return bytes === undefined ? "" : bytes.toString("latin1");
}
