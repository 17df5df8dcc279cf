import { clearTimeout, monotonicMs, setTimeout } from "../shared/timers.ts";

/** Work that goes on side by side: no more at once, and no more a second, than its bounds say. */
export interface Pool {
  /** Resolves once the work has begun. Rejects with what any work before it rejected with. */
  add(work: () => Promise<void>): Promise<void>;
  /** Resolves when all work is done; rejects with what any rejected with. */
  drain(): Promise<void>;
}

export interface PoolBounds {
  /** How many run at once. */
  readonly concurrency: number;
  /** How many begin in a second. */
  readonly perSecondMax: number;
  readonly signal?: AbortSignal | undefined;
}

export function createPool({ concurrency, perSecondMax, signal }: PoolBounds): Pool {
  const running = new Set<Promise<void>>();
  const gapMs = 1000 / perSecondMax;
  let nextMs = monotonicMs();
  let failure: { readonly error: unknown } | undefined;

  function check(): void {
    if (failure !== undefined) throw failure.error;
    signal?.throwIfAborted();
  }

  async function waitForTurn(): Promise<void> {
    const waitMs = nextMs - monotonicMs();
    nextMs = Math.max(nextMs, monotonicMs()) + gapMs;
    if (waitMs >= 1) await pause(waitMs, signal);
  }

  async function run(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      failure ??= { error };
    }
  }

  return {
    add: async (work) => {
      check();
      while (running.size >= concurrency) await Promise.race(running);
      await waitForTurn();
      check();
      const one: Promise<void> = run(work).finally(() => running.delete(one));
      running.add(one);
    },
    drain: async () => {
      await Promise.all(running);
      check();
    },
  };
}

/** Resolves after `ms`, or at once where the signal is aborted. */
export function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted === true) return resolve();
    const timer = setTimeout(done, ms);
    signal?.addEventListener("abort", done);
    function done(): void {
      clearTimeout(timer);
      signal?.removeEventListener("abort", done);
      resolve();
    }
  });
}
