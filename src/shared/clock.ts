/** The time as a parameter, so that tests can set it. The mirror never reads the machine's clock directly. */
export interface Clock {
  /** Milliseconds since 1970-01-01T00:00:00Z. */
  now(): number;
}

export const systemClock: Clock = { now: () => Date.now() };

/** `2026-01-25T10:28:10.487Z`: how our own times are written everywhere. */
export function toIsoTime(ms: number): string {
  return new Date(ms).toISOString();
}
