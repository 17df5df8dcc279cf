/** Looks at the webhook subscription again and again, and repairs it. One process does it for all. */
import type { MirrorClient } from "../reconcile/mirror-client.ts";
import type { Reconciled } from "../reconcile/reconcile.ts";
import { type Clock } from "../shared/clock.ts";
import { EscrowMirrorError, nameOfError } from "../shared/errors.ts";
import type { Logger } from "../shared/logger.ts";
import { settle } from "../shared/result.ts";
import { clearTimeout, monotonicMs, setTimeout } from "../shared/timers.ts";
import type { Store } from "../store/store.ts";
import { createLease } from "./lease.ts";
import type { Warn } from "./alarm.ts";
import { createRound } from "./round.ts";
import { watchdogLease } from "./seen.ts";
import { callsFor } from "./subscription.ts";

/** Options of `mirror.startWatchdog()`. */
export interface WatchdogOptions {
  /** How often the subscription is read. Milliseconds, default 60,000; at least 10. */
  readonly everyMs?: number | undefined;
  /** Called with each warning once: a sentence for a person, and its kind for your code. `console.warn` fits. */
  readonly onWarning?: Warn | undefined;
}

/** A running watchdog. */
export interface Watchdog {
  /** Stops it. Resolves when the running round has ended. `mirror.close()` calls it too. */
  stop(): Promise<void>;
}

export interface WatchdogParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly client: MirrorClient | undefined;
  readonly leaseMs: number;
  /** How many verified deliveries in a row this process did not answer 2xx. */
  readonly ownFailures: () => number;
  readonly reconcile: (signal: AbortSignal) => Promise<Reconciled>;
}

/** An injected clock may leap: the watchdog reads it this often, however long `everyMs` is. */
const lookMs = 250;

/** @throws EscrowMirrorError `invalid-configuration`, `invalid-argument` */
export function startWatchdog(parts: WatchdogParts, options: WatchdogOptions = {}): Watchdog {
  const { store, clock, logger, leaseMs } = parts;
  const calls = callsFor("mirror.startWatchdog()", parts.client, ["get", "update"]);
  const everyMs = checked(options);
  const lease = createLease(store, watchdogLease, leaseMs);
  const ending = new AbortController();
  const { signal } = ending;
  const round = createRound({ ...parts, calls, lease, warn, signal });
  let running: Promise<void> | undefined;
  let asking: Promise<void> | undefined;
  let [held, askedMs, lastMs] = [false, Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY];
  let timer: NodeJS.Timeout;

  function warn(message: string, kind: Parameters<Warn>[1]): void {
    logger.warn({ step: "watchdog", kind }, message);
    void tellApp(logger, () => options.onWarning?.(message, kind));
  }

  async function ask(): Promise<void> {
    askedMs = monotonicMs();
    const asked = await settle(() => lease.ask());
    held = asked.ok && asked.value;
  }

  /** Renews the lease while a round runs, however long. Rounds never overlap. */
  async function beat(): Promise<void> {
    if (monotonicMs() - askedMs >= lease.askEveryMs) await (asking = ask());
    const nowMs = clock.now();
    if (!held || running !== undefined || signal.aborted) return;
    if (nowMs >= lastMs && nowMs - lastMs < everyMs) return;
    lastMs = nowMs;
    running = round().finally(() => (running = undefined));
  }

  function schedule(): void {
    timer = setTimeout(() => void beat().finally(schedule), Math.min(everyMs, lookMs, lease.askEveryMs));
    timer.unref();
    if (signal.aborted) clearTimeout(timer);
  }

  void beat().finally(schedule);
  return {
    stop: async () => {
      ending.abort(new EscrowMirrorError("aborted", "the watchdog was stopped"));
      clearTimeout(timer);
      await asking;
      await running;
      if (held) await settle(() => lease.release());
      held = false;
    },
  };
}

/** If the app's function throws, the round continues. */
async function tellApp(logger: Logger, tell: () => unknown): Promise<void> {
  const told = await settle(async () => tell());
  if (!told.ok) logger.warn({ step: "watchdog", error: nameOfError(told.error) }, "onWarning failed");
}

function checked({ everyMs = 60_000, onWarning }: WatchdogOptions): number {
  const isTime = Number.isSafeInteger(everyMs) && everyMs >= 10 && everyMs <= 2 ** 31 - 1;
  if (isTime && (onWarning === undefined || typeof onWarning === "function")) return everyMs;
  throw new EscrowMirrorError(
    "invalid-argument",
    isTime
      ? "mirror.startWatchdog: onWarning: expected a function"
      : "mirror.startWatchdog: everyMs: expected whole milliseconds, 10 or more",
  );
}
