/** The longest wait, whatever the service asks for. */
export const waitMsMax = 60_000;

/** The longest wait that the client chooses itself. */
export const backoffMsMax = 8_000;

/** The inputs of a wait. */
export interface Wait {
  /** How many times the request was sent: from 1. */
  readonly attempts: number;
  /** The first wait, on average. */
  readonly backoffMs: number;
  /** The answer's `Retry-After`, as sent. */
  readonly retryAfter: string | null;
  /** The answer's `Date`, as sent: what a date in `Retry-After` is compared with. */
  readonly date: string | null;
  /** The client's clock, in milliseconds: where the answer has no date. */
  readonly nowMs: number;
  /** From 0 to 1. */
  readonly random: number;
}

/**
 * How long to wait before the next attempt. `Retry-After` decides, up to `waitMsMax`. Without it each wait is twice the
 * one before, times a random 0.5 to 1.5: so many clients don't send at once.
 */
export function toWaitMs({ attempts, backoffMs, retryAfter, date, nowMs, random }: Wait): number {
  const asked = readRetryAfter(retryAfter, Date.parse(date ?? ""), nowMs);
  if (asked !== undefined) return Math.min(Math.max(asked, 0), waitMsMax);
  return Math.min(backoffMs * 2 ** (attempts - 1), backoffMsMax) * (0.5 + random);
}

/** Seconds, with a fraction too, or a date; `undefined` where it is neither. */
function readRetryAfter(text: string | null, sentMs: number, nowMs: number): number | undefined {
  const value = text?.trim() ?? "";
  if (/^\d+(?:\.\d+)?$/.test(value)) return Number(value) * 1_000;
  // A date begins with the name of a day, in each of its three forms: Date.parse takes far more.
  const atMs = /^[A-Z][a-z]{2}/.test(value) ? Date.parse(value) : Number.NaN;
  if (Number.isNaN(atMs)) return undefined;
  return atMs - (Number.isNaN(sentMs) ? nowMs : sentMs);
}
