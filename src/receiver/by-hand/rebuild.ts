import type { FoldOptions } from "../../domain/fold.ts";
import { toIsoTime, type Clock } from "../../shared/clock.ts";
import type { Store, StoreTransaction } from "../../store/store.ts";
import { contractIdPages } from "../contracts/contract-ids.ts";
import { persist } from "../persist.ts";
import { loadContracts } from "../contracts/load.ts";
import { refold } from "../transition.ts";

export interface RebuildOptions {
  /** Called after each contract. */
  readonly onProgress?: ((progress: RebuildProgress) => void) | undefined;
  /** Rejects with its reason before the next contract; what is done stays done. */
  readonly signal?: AbortSignal | undefined;
}

export interface RebuildProgress {
  readonly done: number;
  readonly total: number;
}

/**
 * Folds every contract anew from its stored inputs: after an upgrade that folds otherwise, or to prove that nothing is
 * amiss. Each contract is one transaction, so deliveries go on meanwhile, and the event loop turns in between.
 */
export async function rebuild(
  store: Store,
  clock: Clock,
  folding: FoldOptions,
  options: RebuildOptions,
): Promise<RebuildProgress> {
  const { signal, onProgress } = options;
  const progress = { done: 0, total: await countContracts(store, signal) };
  for await (const contractIds of contractIdPages(store))
    for (const contractId of contractIds) {
      signal?.throwIfAborted();
      await store.transaction((tx) => rebuildContract(tx, contractId, folding, toIsoTime(clock.now())));
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

async function rebuildContract(
  tx: StoreTransaction,
  contractId: string,
  folding: FoldOptions,
  now: string,
): Promise<void> {
  const contracts = await loadContracts(tx, [contractId]);
  await persist(tx, { inputs: [], changes: await refold(tx, contracts, [contractId], folding) }, now);
}
