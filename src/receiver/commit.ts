/**
 * The one transaction of a batch, a release, a rebuild or a redaction. It runs transition → persist → notify on what is newly
 * applied. A rebuild passes `noListeners`, so it notifies nobody. One way into the tables does not come through here: `setAside`
 * in `batch.ts` stores a delivery that can't be applied.
 */
import type { FoldOptions } from "../domain/fold.ts";
import type { FoldInput } from "../domain/input.ts";
import type { ContractRecord } from "../domain/records.ts";
import type { FreshDelivery } from "../handlers/transaction/transaction-run.ts";
import { toIsoTime, type Clock } from "../shared/clock.ts";
import type { Store, StoreTransaction } from "../store/store.ts";
import type { ContractChange } from "./arrival.ts";
import type { Step } from "./log.ts";
import { closeCreates, closeRefunds } from "./contracts/intents.ts";
import { loadContracts } from "./contracts/load.ts";
import { contractsNamed, heedRedactions, type StoredContent } from "./contracts/redacted.ts";
import { persist } from "./persist.ts";
import type { Listeners } from "./notify.ts";
import { transition } from "./transition.ts";

export interface CommitParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly folding: FoldOptions;
  readonly listeners: Listeners;
}

/** The additions of one transaction: inputs for the fold, and deliveries for the handlers. */
export interface Fresh {
  readonly inputs: readonly FoldInput[];
  readonly deliveries: readonly FreshDelivery[];
  /** Deliveries whose content was stored, applied or not. */
  readonly stored?: readonly StoredContent[];
}

export interface CommitWork<Taken extends Fresh> {
  /** Resolves with what is newly applied. Runs first, inside the transaction. */
  readonly take: (tx: StoreTransaction) => Promise<Taken>;
  /** Computes the changes of the contracts. Default: the step *transition*. */
  readonly fold?: (
    tx: StoreTransaction,
    inputs: readonly FoldInput[],
    contracts: ReadonlyMap<string, ContractRecord>,
  ) => Promise<ContractChange[]>;
  /** Called with each step before it runs, for the log of a failure. */
  readonly enter?: (step: Step) => void;
  /** Whether it applies only one delivery. Then each `inTransaction` handler gets its whole time. Default true. */
  readonly isAlone?: boolean;
}

/** Resolves when the work is on the disk. Rejects with the error that rolled the transaction back. */
export async function commitOnce<Taken extends Fresh>(
  { store, clock, folding, listeners }: CommitParts,
  work: CommitWork<Taken>,
): Promise<Taken & { readonly changes: readonly ContractChange[] }> {
  const { take, enter = () => {}, isAlone = true } = work;
  const { fold = (tx, inputs, contracts) => transition(tx, inputs, contracts, folding) } = work;
  // This commit reaches every handler that is registered by now.
  await listeners.ready();
  const done = await store.transaction(async (bare) => {
    const notifying = listeners.begin(bare);
    const { tx } = notifying;
    const news = await take(tx);
    const now = toIsoTime(clock.now());
    const given = [...news.inputs, ...(await closeCreates(tx, news.inputs, now))];
    enter("transition");
    const contracts = await loadContracts(tx, contractsNamed({ ...news, inputs: given }));
    const { inputs, deliveries } = await heedRedactions(tx, contracts, { ...news, inputs: given });
    const changes = await fold(tx, inputs, contracts);
    enter("persist");
    await persist(tx, { inputs, changes }, now);
    await closeRefunds(tx, inputs, changes, now);
    if (await notifying.isHeard()) enter("notify");
    await notifying.notify({ deliveries, inputs, changes }, { ms: 0, isAlone });
    return { ...news, inputs, changes };
  });
  listeners.committed();
  return done;
}
