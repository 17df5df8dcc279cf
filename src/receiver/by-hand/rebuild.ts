import type { Store, StoreTransaction } from "../../store/store.ts";
import { contractIdPages } from "../contracts/contract-ids.ts";
import { commitOnce, type CommitParts, type Fresh } from "../commit.ts";
import { loadContracts } from "../contracts/load.ts";
import { noListeners } from "../notify.ts";
import { refold } from "../transition.ts";

/** Options of `mirror.rebuild()`. */
export interface RebuildOptions {
  /** Called after each contract. */
  readonly onProgress?: ((progress: RebuildProgress) => void) | undefined;
  /** Ends the rebuild before the next contract. Contracts done so far stay done. */
  readonly signal?: AbortSignal | undefined;
}

/** The progress of a rebuild. */
export interface RebuildProgress {
  /** Contracts that are rebuilt. */
  readonly done: number;
  /** All contracts. */
  readonly total: number;
}

/** Handlers hear of nothing that a rebuild does. */
export type RebuildParts = Omit<CommitParts, "listeners">;

/**
 * Folds every contract anew from its stored inputs: after an upgrade that folds otherwise, or to prove that nothing is
 * amiss. Each contract is one transaction, so deliveries go on meanwhile, and the event loop turns in between.
 */
export async function rebuild(parts: RebuildParts, options: RebuildOptions): Promise<RebuildProgress> {
  const { store } = parts;
  const { signal, onProgress } = options;
  const progress = { done: 0, total: await countContracts(store, signal) };
  for await (const contractIds of contractIdPages(store))
    for (const contractId of contractIds) {
      signal?.throwIfAborted();
      await rebuildContract(parts, contractId);
      progress.done += 1;
      // Deliveries may have brought new ones.
      progress.total = Math.max(progress.total, progress.done);
      onProgress?.({ ...progress });
    }
  return progress;
}

async function countContracts(store: Store, signal: AbortSignal | undefined): Promise<number> {
  let total = 0;
  for await (const contractIds of contractIdPages(store)) {
    signal?.throwIfAborted();
    total += contractIds.length;
  }
  return total;
}

function rebuildContract(parts: RebuildParts, contractId: string) {
  const fold = async (tx: StoreTransaction) =>
    refold(tx, await loadContracts(tx, [contractId]), [contractId], parts.folding);
  return commitOnce({ ...parts, listeners: noListeners }, { take: async () => nothingNew, fold });
}

const nothingNew: Fresh = { inputs: [], deliveries: [] };
