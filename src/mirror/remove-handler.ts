import { EscrowMirrorError } from "../shared/errors.ts";
import { lastOfFull, type Place } from "../store/pages.ts";
import type { Store, StoreTransaction } from "../store/store.ts";
import { allBut } from "../store/tables.ts";
import type { SubscriptionRow } from "../store/tables/handlers.ts";

/** How many of its jobs one transaction looks at: nobody waits for the length of a backlog. */
const removedRows = 200;
const idleStates = ["waiting", "due", "dead"] as const;
/** Done jobs stay for their time. */
const removedStates = ["running", ...idleStates] as const;

/**
 * Removes the handler's jobs first: if the process ends meanwhile, the handler is still there, and can be removed again.
 * Running jobs go last: a job may run in a transaction, and the removal waits for the end of it.
 */
export async function removeHandler(store: Store, name: string): Promise<void> {
  const left: number[] = [];
  let page: RemovedPage | undefined;
  do {
    const after = page?.next;
    page = await store.transaction((tx) => removePage(tx, name, after));
    left.push(...page.left);
  } while (page.next !== undefined);
  if (left.length === 0) return;
  const { kind } = page;
  // Waits without the lock of the subscriptions: a registration waits for that lock, and commits wait behind it.
  await store.transaction((tx) => tx.lock("jobs", "seq", left, allBut("jobs", ["seq"])));
  await store.transaction((tx) => removeLeft(tx, { name, kind, left }));
}

type Kind = SubscriptionRow["kind"];

interface RemovedPage {
  /** The jobs that run now, or ran a moment ago. */
  readonly left: readonly number[];
  /** Where the next page begins. With the last one the handler is gone. */
  readonly next: Place | undefined;
  /** `undefined` if an earlier removal has removed the handler, and its process ended. */
  readonly kind: Kind | undefined;
}

async function removePage(
  tx: StoreTransaction,
  name: string,
  after: Place | undefined,
): Promise<RemovedPage> {
  await tx.jobs.lockSubscriptions("exclusive");
  const [handler] = await tx.lookup("subscriptions", "name", [name]);
  if (handler === undefined && !(await hasJobs(tx, name)))
    throw new EscrowMirrorError("not-found", `no handler is named ${name}`);
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
  return { left, next: last && [last.createdAt, last.seq], kind: handler?.kind };
}

/** Its running jobs may be left of a removal whose process ended. */
async function hasJobs(tx: StoreTransaction, name: string): Promise<boolean> {
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

interface LeftJobs {
  readonly name: string;
  readonly kind: Kind | undefined;
  readonly left: readonly number[];
}

/**
 * The name may be registered anew by now. The new handler gets no second job for a delivery that has one, so the jobs that are
 * left are its own: if a run fails, it is tried again. This holds for deliveries before its `since` too, because nothing here
 * shows where it began. A handler of another kind could not run them.
 */
async function removeLeft(tx: StoreTransaction, { name, kind, left }: LeftJobs): Promise<void> {
  await tx.jobs.lockSubscriptions("shared");
  const [anew] = await tx.lookup("subscriptions", "name", [name]);
  const isItsOwn = anew !== undefined && anew.kind === (kind ?? anew.kind);
  if (!isItsOwn) await tx.jobs.remove(left, removedStates);
}
