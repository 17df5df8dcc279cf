/** This process as the queue knows it: alive while it shows itself, and what it claims is its own for so long. */
import { settle } from "../../shared/result.ts";
import type { Store, StoreTransaction } from "../../store/store.ts";
import type { JobRow } from "../../store/tables/handlers.ts";
import { tellOfDead } from "../dead-jobs.ts";
import type { Registry } from "../registry.ts";

export interface WorkerParts {
  readonly store: Store;
  readonly registry: Registry;
  /** Who this process is in the queue. */
  readonly workerId: string;
  readonly leaseMs: number;
  readonly maxAttempts: number;
  /** Whether no claimed job is left here. */
  readonly isFree: () => boolean;
  /** Others have the jobs of this process by now. */
  readonly onLeaseLost: (reason: Error) => void;
}

export interface Worker {
  /** Shows that this process lives, and takes up the jobs of those that no longer do. */
  beat(): Promise<void>;
  /** Whether it hears of jobs. Others tell of them as soon as they know. */
  listens(isListening: boolean): Promise<void>;
  claim(tx: StoreTransaction, room: number): Promise<JobRow[]>;
  /** Gives back what is still running here. */
  retire(): Promise<void>;
}

export function createWorker(parts: WorkerParts): Worker {
  const { store, registry, workerId, leaseMs, maxAttempts, isFree, onLeaseLost } = parts;
  let isKnown = false;
  let isListening = false;
  let isLostDue = true;
  let turns = 0;

  async function beatIn(tx: StoreTransaction): Promise<void> {
    const handlers = registry.names();
    const wasKnown = await tx.jobs.beat({ workerId, handlers, leaseMs, isListening });
    if (isKnown && !wasKnown) onLeaseLost(leaseLost());
    isKnown = true;
    await tellOfDead(tx, await tx.jobs.reclaim({ attemptsMax: maxAttempts }));
    isLostDue ||= await isAnyLost(tx, handlers);
  }

  const beat = async (): Promise<void> => {
    if (registry.names().length > 0) await store.transaction(beatIn);
  };

  return {
    beat,

    listens: async (isHeard) => {
      isListening = isHeard;
      await settle(beat);
    },

    /** A job of a lost worker is run alone, when nothing else runs here: it may have killed its process. */
    claim: async (tx, room) => {
      if (!isKnown) await beatIn(tx);
      const handlers = rotated(registry.names(), turns++);
      const claim = (limit: number, lost: boolean): Promise<JobRow[]> =>
        tx.jobs.claim({ workerId, handlers, limit, lost });
      if (!isLostDue) return claim(room, false);
      if (!isFree()) return [];
      const alone = await claim(1, true);
      isLostDue = alone.length > 0;
      return isLostDue ? alone : claim(room, false);
    },

    retire: async () => {
      // Where that can't be now, its lease runs out.
      if (isKnown) await settle(() => store.transaction((tx) => tx.jobs.retire(workerId)));
    },
  };
}

/** Each handler comes first in its turn, so that a busy one leaves the others room. */
function rotated(names: readonly string[], turn: number): string[] {
  const at = names.length === 0 ? 0 : turn % names.length;
  return [...names.slice(at), ...names.slice(0, at)];
}

async function isAnyLost(tx: StoreTransaction, names: readonly string[]): Promise<boolean> {
  const where = [
    { field: "handler", op: "in", value: names },
    { field: "lost", op: "=", value: true },
    { field: "state", op: "=", value: "due" },
  ] as const;
  return (await tx.find("jobs", { where, limit: 1 })).length > 0;
}

function leaseLost(): Error {
  return new DOMException("another process has taken this job: its lease ran out", "AbortError");
}
