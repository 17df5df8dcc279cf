/** How long a job waits before it is tried again. */
export type Backoff = number | ((attempt: number) => number);

const firstMs = 1000;
const longestMs = 3_600_000;

/** Doubles from a second to an hour; a number is the first wait instead; up to a fifth of it is left to chance. */
export function waitAfter(attempt: number, backoff: Backoff = firstMs, random = Math.random()): number {
  if (typeof backoff === "function") return Math.max(0, backoff(attempt) || 0);
  return Math.min(longestMs, backoff * 2 ** Math.min(attempt - 1, 30)) * (0.8 + random * 0.2);
}
