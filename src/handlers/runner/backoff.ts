/** How long a job waits before it is tried again. */
export type Backoff = number | ((attempt: number) => number);

const firstMs = 1000;
const longestMs = 3_600_000;
/** A year: the time of the next attempt must fit into a date. */
export const waitMsMax = 366 * 86_400_000;

/** Doubles from a second up to an hour. A number as `backoff` replaces the second. Up to a fifth of the wait is random. */
export function waitAfter(attempt: number, backoff: Backoff = firstMs, random = Math.random()): number {
  if (typeof backoff === "function") return chosenBy(backoff, attempt) ?? waitAfter(attempt, firstMs, random);
  return Math.min(longestMs, backoff * 2 ** Math.min(attempt - 1, 30)) * (0.8 + random * 0.2);
}

/** `undefined` if the function throws or returns no number: its fault must not stop the queue. */
function chosenBy(backoff: (attempt: number) => unknown, attempt: number): number | undefined {
  try {
    const ms = backoff(attempt);
    return typeof ms === "number" && ms >= 0 ? Math.min(ms, waitMsMax) : undefined;
  } catch {
    return undefined;
  }
}
