import { randomBytes, randomUUID } from "node:crypto";

/** Randomness as a parameter: ids and secrets come from here, and one seed repeats them. */
export interface Random {
  /** A number from 0 (included) to 1 (excluded). */
  next(): number;
  guid(): string;
  /** `bytes` random bytes as lower-case hex. */
  hex(bytes: number): string;
}

/** The machine's own randomness: what a sandbox uses when no seed is given. */
export const systemRandom: Random = {
  next: () => takeBytes(4).readUInt32BE() / 2 ** 32,
  guid: () => randomUUID(),
  hex: (bytes) => takeBytes(bytes).toString("hex"),
};

/** Asking the system for a few bytes costs as much as for thousands: they are fetched ahead. */
const poolBytes = 8_192;
let pool = Buffer.alloc(0);

function takeBytes(bytes: number): Buffer {
  if (pool.length < bytes) pool = randomBytes(Math.max(poolBytes, bytes));
  const taken = pool.subarray(0, bytes);
  pool = pool.subarray(bytes);
  return taken;
}

/** Repeats itself exactly for one `seed` (mulberry32). Good enough for tests, and for nothing secret. */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const hex = (bytes: number): string =>
    Array.from({ length: bytes }, () =>
      Math.floor(next() * 256)
        .toString(16)
        .padStart(2, "0"),
    ).join("");
  return { next, hex, guid: () => toGuid(hex(16)) };
}

/** Marks the 32 hex digits as a version 4 GUID and sets the hyphens. */
function toGuid(digits: string): string {
  const marked = `${digits.slice(0, 12)}4${digits.slice(13, 16)}a${digits.slice(17)}`;
  return marked.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}
