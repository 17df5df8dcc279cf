import type { FoldOptions } from "../domain/fold.ts";
import { toIsoTime, type Clock } from "../shared/clock.ts";
import { createPace } from "../shared/pace.ts";
import type { Store, StoreTransaction } from "../store/store.ts";
import { persist } from "./persist.ts";
import { loadContracts } from "./load.ts";
import { refold } from "./transition.ts";

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
 * amiss. Each contract is one transaction, so deliveries go on meanwhile.
 */
export async function rebuild(
  store: Store,
  clock: Clock,
  folding: FoldOptions,
  options: RebuildOptions,
): Promise<RebuildProgress> {
  const contractIds = await allContractIds(store);
  const pace = createPace();
  let done = 0;
  for (const contractId of contractIds) {
    await pace();
    options.signal?.throwIfAborted();
    await store.transaction((tx) => rebuildContract(tx, contractId, folding, toIsoTime(clock.now())));
    done += 1;
    options.onProgress?.({ done, total: contractIds.length });
  }
  return { done, total: contractIds.length };
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

function allContractIds(store: Store): Promise<string[]> {
  return store.read(async (reader) => {
    const ids = new Set<string | null>();
    for (const table of ["deliveries", "snapshots"] as const)
      for (const id of (await reader.countBy(table, "contractId")).keys()) ids.add(id);
    return [...ids].filter((id) => id !== null).sort();
  });
}
