/** Finds due jobs that other processes added. It polls the store, and listens if the store can notify. */
import { toIsoTime, type Clock } from "../../shared/clock.ts";
import type { Store } from "../../store/store.ts";
import type { Registry } from "../registry.ts";
import { repeat } from "./repeat.ts";

export interface LookoutParts {
  readonly store: Store;
  readonly registry: Registry;
  readonly clock: Clock;
  /** Called when jobs are due. */
  readonly onDue: () => void;
  /** Called when notifications begin, and when they stop. */
  readonly onListening: (isListening: boolean) => void;
}

export interface Lookout {
  /** Polls often again: a job waits for its next attempt, and no notification comes for that. */
  lookSoon(): void;
  stop(): Promise<void>;
}

/** The interval while notifications arrive: it finds a job whose notification was lost. */
const heardLookMs = 2000;

export function createLookout(parts: LookoutParts): Lookout {
  const { store, registry, clock, onDue, onListening } = parts;
  let isListening = false;
  /** Whether a job may wait for its next attempt. */
  let isWaiting = true;

  const looking = repeat(
    async () => {
      const next = await nextDueAt(store, registry);
      isWaiting = next !== null;
      if (next !== null && next <= toIsoTime(clock.now())) onDue();
    },
    () => (isListening && !isWaiting ? Math.max(heardLookMs, store.lookEveryMs) : store.lookEveryMs),
  );

  const stopListening = store.listen?.({
    heard: (handler) => {
      if (registry.get(handler) !== undefined) onDue();
    },
    changed: (isHeard) => {
      isListening = isHeard;
      onListening(isHeard);
    },
  });

  return {
    lookSoon: () => {
      isWaiting = true;
      if (isListening) looking.restart();
    },
    stop: async () => {
      looking.stop();
      await stopListening?.();
    },
  };
}

/** Whether a job of this process's handlers is due. */
export async function isAnyDue(store: Store, registry: Registry, clock: Clock): Promise<boolean> {
  const next = await nextDueAt(store, registry);
  return next !== null && next <= toIsoTime(clock.now());
}

async function nextDueAt(store: Store, registry: Registry): Promise<string | null> {
  const names = registry.names();
  return names.length === 0 ? null : store.nextJobAt(names);
}
