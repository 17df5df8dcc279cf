import { closeSync, openSync, readSync } from "node:fs";

/** How many pages of the WAL an SQLite file has: `nBackfill` of the WAL index (sqlite.org/walformat.html §2.3). */
export function pagesBroughtOver(file: string): number {
  const index = openSync(`${file}-shm`, "r");
  const word = Buffer.alloc(4);
  readSync(index, word, 0, 4, 96);
  closeSync(index);
  return word.readUInt32LE();
}
