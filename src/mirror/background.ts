/** Work that runs by itself until the mirror is closed. */
import { startWatchdog, type Watchdog, type WatchdogOptions } from "../healing/watchdog.ts";
import type { Listeners } from "../receiver/notify.ts";
import type { Receiver } from "../receiver/receiver.ts";
import { watchOpenIntents } from "../reconcile/open-intents.ts";
import type { Reconciled } from "../reconcile/reconcile.ts";
import { nameOfError } from "../shared/errors.ts";
import type { Reading } from "../telemetry/instruments.ts";
import type { Telemetry } from "../telemetry/recorder.ts";
import type { MirrorSettings } from "./options.ts";

export interface BackgroundParts {
  readonly receiver: Receiver;
  readonly listeners: Listeners;
  readonly telemetry: Telemetry;
  readonly readGauges: () => Promise<readonly Reading[]>;
  readonly reconcile: (signal: AbortSignal) => Promise<Reconciled>;
}

export interface Background {
  startWatchdog(options?: WatchdogOptions): Watchdog;
  /** Resolves when none of it runs. */
  stop(): Promise<void>;
}

export function startBackground(settings: MirrorSettings, parts: BackgroundParts): Background {
  const { store, clock, logger, client } = settings;
  const { receiver, reconcile } = parts;
  const watchdogs: Watchdog[] = [];
  const stopObserving = parts.telemetry.observe(parts.readGauges);
  const intents = watchIntents(settings, parts.listeners);
  const ownFailures = () => receiver.consecutiveFailures();
  const { leaseMs } = settings.jobs;
  return {
    startWatchdog: (options) => {
      const started = startWatchdog(
        { store, clock, logger, client, leaseMs, ownFailures, reconcile },
        options,
      );
      watchdogs.push(started);
      return started;
    },
    stop: async () => {
      stopObserving();
      await Promise.all([intents?.stop(), ...watchdogs.map((each) => each.stop())]);
    },
  };
}

/** Only a process with a client makes calls that may stay without an answer, and knows how long they may take. */
function watchIntents(settings: MirrorSettings, listeners: Listeners) {
  const { store, clock, folding, client, logger, intentTimeoutMs } = settings;
  const onFault = (error: unknown): void =>
    logger.warn(
      { step: "persist", error: nameOfError(error) },
      "the check for calls without an answer failed",
    );
  return client && watchOpenIntents({ store, clock, folding, listeners }, intentTimeoutMs, onFault);
}
