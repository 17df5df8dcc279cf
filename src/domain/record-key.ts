import { hash } from "node:crypto";

/**
 * One key of several ids: no two lists of parts have the same, and it stays short whatever the ids hold. Postgres takes at
 * most 2,704 bytes in a row of an index, and an id alone may have 1,275.
 */
export function recordKey(...parts: readonly (string | null)[]): string {
  const key = JSON.stringify(parts);
  return key.length <= keyLengthMax ? key : `sha256:${hash("sha256", key, "hex")}`;
}

/** In UTF-16 code units, of which each takes three bytes at most: JSON escapes what a database can't hold. */
const keyLengthMax = 120;
