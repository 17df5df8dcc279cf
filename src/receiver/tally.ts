import { toIsoTime, type Clock } from "../shared/clock.ts";
import type { Reason, ReceiveResult } from "./outcome.ts";

/** The answers of one process: which requests did not get 2xx, and when the last delivery arrived. */
export interface Tally {
  note(result: ReceiveResult): void;
  readonly refused: Refused;
  /** When a delivery was last answered 2xx; `null` before the first. */
  readonly acceptedAt: string | null;
}

/** Refused requests by reason. The list of reasons is closed, so forged requests can't fill the memory. */
export type Refused = Readonly<Partial<Record<Reason, Refusal>>>;

/** Requests with one reason that were not answered 2xx, since the process started. */
export interface Refusal {
  /** How many. */
  readonly count: number;
  /** When the last one arrived. ISO 8601. */
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
