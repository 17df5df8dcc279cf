import { fold, type FoldOptions } from "../domain/fold.ts";
import { emptyState } from "../domain/records.ts";
import { toIsoTime, type Clock } from "../shared/clock.ts";
import type { Store, StoreTransaction } from "../store/store.ts";
import type { TableName } from "../store/tables.ts";
import { persist } from "./persist.ts";
import { loadInputs, loadStates } from "./transition.ts";

export interface RebuildOptions {
  /** Called after each contract. */
  readonly onProgress?: ((progress: RebuildProgress) => void) | undefined;
  /** Stops before the next contract; what is done stays done. */
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
  let done = 0;
  for (const contractId of contractIds) {
    options.signal?.throwIfAborted();
    await store.transaction((tx) => rebuildContract(tx, contractId, folding, toIsoTime(clock.now())));
    options.onProgress?.({ done: ++done, total: contractIds.length });
  }
  return { done, total: contractIds.length };
}

async function rebuildContract(
  tx: StoreTransaction,
  contractId: string,
  folding: FoldOptions,
  now: string,
): Promise<void> {
  const before = (await loadStates(tx, [contractId])).get(contractId) ?? emptyState(contractId);
  const inputs = await loadInputs(tx, contractId);
  if (inputs.length === 0) return removeContract(tx, contractId);
  await persist(tx, [{ before, after: fold(contractId, inputs, folding) }], now);
}

const contractTables = [
  "contracts",
  "milestones",
  "refunds",
  "payments",
  "disputes",
  "transitions",
] as const satisfies readonly TableName[];

/** A row that no input accounts for is none of the mirror's. */
async function removeContract(tx: StoreTransaction, contractId: string): Promise<void> {
  for (const table of contractTables)
    await tx.remove(table, [{ field: "contractId", op: "=", value: contractId }]);
}

function allContractIds(store: Store): Promise<string[]> {
  return store.read(async (reader) => {
    const ids = new Set<string | null>();
    for (const table of ["deliveries", "snapshots", "contracts"] as const)
      for (const id of (await reader.countBy(table, "contractId")).keys()) ids.add(id);
    return [...ids].filter((id) => id !== null).sort();
  });
}
