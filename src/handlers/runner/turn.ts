/** One turn of the runner. It is one transaction: it ends the jobs whose runs are over, and claims the next ones. */
import type { Ending } from "../../store/queue.ts";
import type { Store, StoreTransaction } from "../../store/store.ts";
import { notifyOfDead } from "../dead-jobs.ts";
import { loadAssignments } from "./assignment.ts";
import type { Slots } from "./slots.ts";
import type { Worker } from "./worker.ts";

export interface TurnParts {
  readonly store: Store;
  readonly slots: Slots;
  readonly worker: Worker;
  /** Whether this process claims jobs now. */
  readonly isTaking: () => boolean;
  /** Called when a job waits for its next attempt. */
  readonly onAgain: () => void;
}

export interface Turn {
  /** Rejects if the store failed. Nothing is lost then: the next turn does it. */
  take(): Promise<void>;
  /** The queue may hold jobs that this process has claimed and does not know of. The next turn gives them back. */
  doubt(): void;
  /** Doubts again if a turn has ever failed: the server may carry out its commit at any later time. Returns whether it doubts. */
  doubtAgain(): boolean;
}

export function createTurn({ store, slots, worker, isTaking, onAgain }: TurnParts): Turn {
  let isUnsure = false;
  let hasFailed = false;

  async function take(): Promise<void> {
    const endings = slots.takeEndings();
    const room = isTaking() ? slots.room(endings.length) : 0;
    const wasUnsure = isUnsure;
    if (endings.length === 0 && room <= 0 && !wasUnsure) return;
    isUnsure = false;
    try {
      const assignments = await store.transaction(async (tx) => {
        await endJobs(tx, endings);
        if (wasUnsure) await worker.giveBackBut(tx, slots.held());
        return room <= 0 ? [] : loadAssignments(tx, await worker.claim(tx, room));
      });
      if (room > 0) worker.committed();
      if (endings.some(({ end }) => end === "again")) onAgain();
      slots.add(assignments);
    } catch (error) {
      slots.restoreEndings(endings);
      // The answer to a commit may be lost, so its jobs may be claimed.
      isUnsure = true;
      hasFailed = true;
      throw error;
    }
  }

  return {
    take,
    doubt: () => void (isUnsure = true),
    doubtAgain: () => (isUnsure ||= hasFailed),
  };
}

async function endJobs(tx: StoreTransaction, endings: readonly Ending[]): Promise<void> {
  // The subscriptions before the jobs: the order in which others lock.
  if (endings.some(({ end }) => end === "dead")) await tx.jobs.lockSubscriptions("shared");
  const held = await tx.jobs.end(endings);
  const dead = endings.filter(({ end }, index) => end === "dead" && held[index] === true);
  await notifyOfDead(tx, dead);
}
