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
  /** Our own last commit, or the start of the log. What another process writes can still turn out to be no commit. */
  let known = noLog;
  let before = nothing;
  // For good: SQLite writes what is left of such a log back to the database, and begins a log that seems whole.
  let isDamaged = false;
  return {
    before: (path) => {
      known = inFile(path, (file) => {
        const header = readHeader(file);
        const from = header === known.header ? known : startOf(header);
        isDamaged ||= !isThere(file, from);
        before = readBehind(file, from);
        return from;
      });
    },
    holds: (path, hasWritten) => {
      if (!hasWritten || isDamaged) return !isDamaged;
      const { header, end } = known;
      let isOver = true;
      known = inFile(path, (file) => {
        const found = readHeader(file);
        const last =
          found === header
            ? newCommit(file, known, before)
            : newCommit(file, startOf(found), { ...before, frames: 0 });
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

/**
 * The frames that stand behind a mark. The last commit among them may be none: a process that is killed before it tells
 * the others of its commit leaves it in the log, until the next one overwrites it.
 */
interface Behind {
  /** How many, without a gap. */
  readonly frames: number;
  /** The headers of those frames that end a commit. */
  readonly commits: ReadonlySet<string>;
}

const nothing: Behind = { frames: 0, commits: new Set() };

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

function readBehind(file: number, from: Mark): Behind {
  const frameAt = framesBehind(file, from);
  const commits = new Set<string>();
  for (let frames = 0; ; frames++) {
    const frame = frameAt(frames);
    if (!isOf(from, frame)) return { frames, commits };
    if (isCommit(frame)) commits.add(frame);
  }
}

/** The last commit behind a known one that was not there before. If the known one is gone, so is what follows it. */
function newCommit(file: number, from: Mark, before: Behind): Mark {
  if (!isThere(file, from)) return from;
  const frameAt = framesBehind(file, from);
  // A restart reads up to the first gap. Where frames were lost, SQLite has written on behind the gap.
  const frames = before.frames + countWhile((index) => isOf(from, frameAt(before.frames + index)));
  // A transaction that was too large for the memory, and was rolled back, leaves frames without a commit.
  for (let index = frames - 1; index >= 0; index--) {
    const frame = frameAt(index);
    if (isCommit(frame) && !before.commits.has(frame))
      return { ...from, end: from.end + (index + 1) * from.frameBytes, frame };
  }
  return from;
}

/** Reads the header of a frame. The first behind the mark has the index 0. */
function framesBehind(file: number, { end, frameBytes }: Mark): (index: number) => string {
  return (index) => toText(readAt(file, end + index * frameBytes, frameHeaderBytes));
}

/** A log that started over still has frames of before behind its own, with other salts. */
function isOf({ header }: Mark, frame: string): boolean {
  return header !== "" && frame.slice(8, 16) === header.slice(16, 24);
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
