/** Takes turns one after the other, while any is wanted. Wishes that come together share one turn. */
import { settle } from "./result.ts";
import { nextTurn, sleep } from "./timers.ts";

export interface Turns {
  /** Asks for a turn. If one is being taken, another follows. */
  soon(): void;
  /** Resolves when no turn is wanted any more. Rejects with the error of turns that fail again and again; others follow. */
  over(): Promise<void>;
}

const faultWaitMs = 1000;
/** After this many failures in a row, those that wait are told. */
const failuresMax = 3;

interface Waiter {
  resolve(): void;
  reject(reason: unknown): void;
}

/**
 * @param mayRetry whether a turn that failed is taken again
 * @param onFault called with the error of each turn that failed
 */
export function createTurns(
  take: () => Promise<void>,
  mayRetry: () => boolean,
  onFault: (error: unknown) => void,
): Turns {
  let isWanted = false;
  let isBusy = false;
  let waiters: Waiter[] = [];

  async function takeWhileWanted(): Promise<void> {
    for (let failed = 0; isWanted;) {
      // Runs that end together share a commit.
      await nextTurn();
      isWanted = false;
      const done = await settle(take);
      failed = done.ok ? 0 : failed + 1;
      if (done.ok) continue;
      onFault(done.error);
      if (failed >= failuresMax) for (const each of takeWaiters()) each.reject(done.error);
      await sleep(faultWaitMs);
      isWanted ||= mayRetry();
    }
    // In the same step as the last look at the wish: one that comes between the two would be heard by nobody.
    isBusy = false;
    for (const each of takeWaiters()) each.resolve();
  }

  function takeWaiters(): Waiter[] {
    const all = waiters;
    waiters = [];
    return all;
  }

  return {
    soon: () => {
      isWanted = true;
      if (isBusy) return;
      isBusy = true;
      void takeWhileWanted();
    },
    over: () =>
      new Promise((resolve, reject) => {
        if (isBusy) waiters.push({ resolve, reject });
        else resolve();
      }),
  };
}
