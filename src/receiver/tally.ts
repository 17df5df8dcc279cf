import { toIsoTime, type Clock } from "../shared/clock.ts";
import type { Reason, ReceiveResult } from "./outcome.ts";

/** What one process answered: which requests it did not answer 2xx, and when it last took a delivery in. */
export interface Tally {
  note(result: ReceiveResult): void;
  readonly refused: Refused;
  /** When a delivery was last answered 2xx; `null` before the first. */
  readonly acceptedAt: string | null;
}

/** By reason. Reasons are a closed list: whoever sends forged requests adds to a number, and to no memory. */
export type Refused = Readonly<Partial<Record<Reason, Refusal>>>;

/** Requests that were not answered 2xx for one reason, since the process started. */
export interface Refusal {
  /** How many there were. */
  readonly count: number;
  /** When the last came. ISO 8601. */
  readonly lastAt: string;
}

export function createTally(clock: Clock): Tally {
  const refused: Partial<Record<Reason, Refusal>> = {};
  let acceptedAt: string | null = null;
  return {
    note({ status, reason }) {
      const now = toIsoTime(clock.now());
      if (status < 300) acceptedAt = now;
      else if (reason !== undefined)
        refused[reason] = { count: (refused[reason]?.count ?? 0) + 1, lastAt: now };
    },
    get refused() {
      return { ...refused };
    },
    get acceptedAt() {
      return acceptedAt;
    },
  };
}
