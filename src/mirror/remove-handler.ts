import { EscrowMirrorError } from "../shared/errors.ts";
import { lastOfFull, type Place } from "../store/pages.ts";
import type { Store, StoreTransaction } from "../store/store.ts";
import { allBut } from "../store/tables.ts";

/** How many of its jobs one transaction looks at: nobody waits for the length of a backlog. */
const removedRows = 200;
const idleStates = ["waiting", "due", "dead"] as const;
/** Done jobs stay for their time. */
const removedStates = ["running", ...idleStates] as const;

/**
 * Removes its jobs first: if the process ends meanwhile, the handler is still there, and can be removed again. Running jobs go
 * last, without the lock of the subscriptions: a job may run in a transaction, for whose end the removal waits.
 */
export async function removeHandler(store: Store, name: string): Promise<void> {
  const left: number[] = [];
  let after: Place | undefined;
  do {
    const page = await store.transaction((tx) => removePage(tx, name, after));
    left.push(...page.left);
    after = page.next;
  } while (after !== undefined);
  if (left.length > 0) await store.transaction((tx) => tx.jobs.remove(left, removedStates));
}

interface RemovedPage {
  /** The jobs that run now, or ran a moment ago. */
  readonly left: readonly number[];
  /** Where the next page begins. With the last one the handler is gone. */
  readonly next: Place | undefined;
}

async function removePage(
  tx: StoreTransaction,
  name: string,
  after: Place | undefined,
): Promise<RemovedPage> {
  await tx.jobs.lockSubscriptions("exclusive");
  if (!(await isKnown(tx, name))) throw new EscrowMirrorError("not-found", `no handler is named ${name}`);
  const rows = await tx.walk(
    "jobs",
    { of: { field: "handler", value: name }, by: ["createdAt", "seq"], after, rowsMax: removedRows },
    { without: allBut("jobs", ["createdAt", "seq"]) },
  );
  const seqs = rows.map(({ seq }) => seq);
  const left = await removeIdle(tx, seqs);
  const last = lastOfFull(rows, removedRows);
  if (last === undefined) {
    await tx.remove("subscriptions", [{ field: "name", op: "=", value: name }]);
    await tx.remove("failures", [{ field: "handler", op: "=", value: name }]);
  }
  return { left, next: last && [last.createdAt, last.seq] };
}

/** Its running jobs may be left of a removal whose process ended. */
async function isKnown(tx: StoreTransaction, name: string): Promise<boolean> {
  if ((await tx.lookup("subscriptions", "name", [name])).length > 0) return true;
  const where = [
    { field: "handler", op: "=", value: name },
    { field: "state", op: "in", value: removedStates },
  ] as const;
  return (await tx.find("jobs", { where, limit: 1 })).length > 0;
}

/** @returns those that are left */
async function removeIdle(tx: StoreTransaction, seqs: readonly number[]): Promise<readonly number[]> {
  if (seqs.length === 0) return [];
  await tx.jobs.remove(seqs, idleStates);
  // Not only those that run: a run may have ended between the two statements.
  const where = [
    { field: "seq", op: "in", value: seqs },
    { field: "state", op: "in", value: removedStates },
  ] as const;
  return (await tx.find("jobs", { where })).map(({ seq }) => seq);
}
