/** Takes turns one after the other, while any is wanted. Wishes that come together share one turn. */
import { nameOfError } from "../../shared/errors.ts";
import type { Logger } from "../../shared/logger.ts";
import { settle } from "../../shared/result.ts";
import { nextTurn, sleep } from "../../shared/timers.ts";

export interface Turns {
  /** Asks for a turn. If one is being taken, another follows. */
  soon(): void;
  /** Resolves when no turn is wanted any more. */
  over(): Promise<void>;
}

const faultWaitMs = 1000;

/** @param mayRetry whether a turn that failed is taken again */
export function createTurns(take: () => Promise<void>, mayRetry: () => boolean, logger: Logger): Turns {
  let isWanted = false;
  let taking: Promise<void> | undefined;

  async function takeWhileWanted(): Promise<void> {
    while (isWanted) {
      // Runs that end together share a commit.
      await nextTurn();
      isWanted = false;
      const done = await settle(take);
      if (done.ok) continue;
      const fields = { step: "notify", error: nameOfError(done.error) };
      logger.error(fields, "jobs can't be claimed now: trying again");
      await sleep(faultWaitMs);
      isWanted = mayRetry();
    }
    // In the same step as the last look at the wish: one that comes between the two would be heard by nobody.
    taking = undefined;
  }

  return {
    soon: () => {
      isWanted = true;
      taking ??= takeWhileWanted();
    },
    over: async () => taking,
  };
}
