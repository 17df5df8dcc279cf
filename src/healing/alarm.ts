/** The warnings of the watchdog. Each is reported once. Until it is over, it is in the row that all processes read. */
import { toIsoTime, type Clock } from "../shared/clock.ts";
import type { Seen } from "./seen.ts";

/** A kind of warning of the watchdog. */
export type WatchdogWarning =
  /** Five, or eight, deliveries in a row failed: at ten the service disables the subscription. */
  | "failing"
  /** The service has disabled the subscription, and sends no webhooks. */
  | "disabled"
  /** The subscription was enabled again, and the contracts were reconciled. */
  | "re-enabled"
  /** Contracts could not be reconciled. */
  | "not-reconciled"
  /** The service has no subscription, or does not show it. */
  | "no-subscription"
  /** A call of the service failed. */
  | "service-unreachable";

/** Called with each warning of the watchdog. */
export type Warn = (message: string, kind: WatchdogWarning) => void;

export interface Alarm {
  /** Warns once, until it is over or its message changes. */
  readonly raise: (seen: Seen, kind: WatchdogWarning, message: string, forMs?: number) => void;
  /** Warns at five and at eight failures in a row. `whose` names the count. */
  readonly judgeFailures: (seen: Seen, failures: number, whose: string) => void;
}

export function createAlarm(clock: Clock, warn: Warn): Alarm {
  const raise: Alarm["raise"] = (seen, kind, message, forMs) => {
    const isKnown = seen.standing[kind]?.message === message;
    const until = forMs === undefined ? null : toIsoTime(clock.now() + forMs);
    seen.standing[kind] = { message, until };
    if (!isKnown) warn(message, kind);
  };

  const judgeFailures: Alarm["judgeFailures"] = (seen, failures, whose) => {
    const level = failures >= 8 ? 8 : failures >= 5 ? 5 : 0;
    if (level > seen.level) raise(seen, "failing", failing(failures, whose));
    if (level === 0) lower(seen, "failing");
    // Five, seven, six and five again warn once: only fewer than five end it.
    seen.level = level === 0 ? 0 : Math.max(level, seen.level);
  };

  return { raise, judgeFailures };
}

/** It is over. */
export function lower(seen: Seen, ...kinds: readonly WatchdogWarning[]): void {
  for (const kind of kinds) delete seen.standing[kind];
}

function failing(failures: number, whose: string): string {
  return `${failures} deliveries in a row failed, by ${whose}: at ten the service disables the subscription. The log and health().refused say why.`;
}
