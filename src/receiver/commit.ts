/** A batch on its way into the database: one transaction, savepoints where one of it fails, and what a failure means. */
import { isEscrowMirrorError } from "../shared/errors.ts";
import { settle, type Result } from "../shared/result.ts";
import type { Store, StoreTransaction } from "../store/store.ts";
import { webhookIdOf, type Arrival, type Commit } from "./arrival.ts";
import type { Notify } from "./notify.ts";
import { failed, type Reason, type Verdict } from "./outcome.ts";

export interface CommitParts {
  readonly store: Store;
  readonly notify: Notify;
  /** The steps that commit together. */
  readonly commitIn: (tx: StoreTransaction, batch: readonly Arrival[]) => Promise<Commit>;
  /** Called once the commit is durable. */
  readonly announce: (done: Commit) => Verdict[];
}

/** Commits a batch and gives a verdict for each of it, in order. It never rejects. */
export function createCommit({ store, notify, commitIn, announce }: CommitParts) {
  /** One transaction for all. When it fails for a reason of one arrival's own, each is tried for itself. */
  return async function commit(batch: readonly Arrival[]): Promise<readonly Verdict[]> {
    const done = await settle(() => store.transaction((tx) => commitIn(tx, batch)));
    if (done.ok) return announce(done.value);
    if (isOfOne(done.error) && batch.length > 1) return commitEach(batch);
    return failAll(batch, done.error);
  };

  /** A savepoint for each arrival, so that one that can't be stored fails none of its neighbours. */
  async function commitEach(batch: readonly Arrival[]): Promise<readonly Verdict[]> {
    const done = await settle(() =>
      store.transaction(async (tx) => {
        const commits: Result<Commit, unknown>[] = [];
        for (const arrival of batch) commits.push(await tryOne(tx, arrival));
        return commits;
      }),
    );
    if (!done.ok) return failAll(batch, done.error);
    return done.value.flatMap((one, index) =>
      one.ok ? announce(one.value) : failAll(batch.slice(index, index + 1), one.error),
    );
  }

  async function tryOne(tx: StoreTransaction, arrival: Arrival): Promise<Result<Commit, unknown>> {
    const one = await settle(() => tx.savepoint(() => commitIn(tx, [arrival])));
    if (!one.ok && !isOfOne(one.error)) throw one.error as Error;
    return one;
  }

  function failAll(batch: readonly Arrival[], error: unknown): Verdict[] {
    notify.fault("persist", error);
    return batch.map((arrival) => failed(reasonOf(error), webhookIdOf(arrival)));
  }
}

/** Whether the fault may be one arrival's own: the store's would meet all of them. */
function isOfOne(error: unknown): boolean {
  return reasonOf(error) === "internal-error";
}

export function reasonOf(error: unknown): Reason {
  if (isEscrowMirrorError(error, "store-unavailable")) return "store-unavailable";
  return isEscrowMirrorError(error, "closed") ? "closed" : "internal-error";
}
