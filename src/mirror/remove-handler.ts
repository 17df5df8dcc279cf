import { EscrowMirrorError } from "../shared/errors.ts";
import { lastOfFull, type Place } from "../store/pages.ts";
import type { Store, StoreTransaction } from "../store/store.ts";
import { allBut } from "../store/tables.ts";

/** How many of its jobs one transaction looks at: nobody waits for the length of a backlog. */
const removedRows = 200;
/** Done jobs stay for their time. */
const otherStates = ["waiting", "due", "dead"] as const;

/**
 * Removes its jobs first: if the process ends meanwhile, the handler is still there, and can be removed again. Running jobs go
 * last, without the lock of the subscriptions: a job may run in a transaction, for whose end the removal waits.
 */
export async function removeHandler(store: Store, name: string): Promise<void> {
  const running: number[] = [];
  let after: Place | undefined;
  do {
    const page = await store.transaction((tx) => removePage(tx, name, after));
    running.push(...page.running);
    after = page.next;
  } while (after !== undefined);
  if (running.length > 0)
    await store.transaction((tx) => tx.jobs.remove(running, ["running", ...otherStates]));
}

interface RemovedPage {
  /** The jobs that run now. */
  readonly running: readonly number[];
  /** Where the next page begins. With the last one the handler is gone. */
  readonly next: Place | undefined;
}

async function removePage(
  tx: StoreTransaction,
  name: string,
  after: Place | undefined,
): Promise<RemovedPage> {
  await tx.jobs.lockSubscriptions("exclusive");
  const [known] = await tx.lookup("subscriptions", "name", [name]);
  if (known === undefined) throw new EscrowMirrorError("not-found", `no handler is named ${name}`);
  const rows = await tx.walk(
    "jobs",
    { of: { field: "handler", value: name }, by: ["createdAt", "seq"], after, rowsMax: removedRows },
    { without: allBut("jobs", ["createdAt", "seq"]) },
  );
  const seqs = rows.map(({ seq }) => seq);
  const running = await removeIdle(tx, seqs);
  const last = lastOfFull(rows, removedRows);
  if (last === undefined) await tx.remove("subscriptions", [{ field: "name", op: "=", value: name }]);
  return { running, next: last && [last.createdAt, last.seq] };
}

/** @returns those that run now */
async function removeIdle(tx: StoreTransaction, seqs: readonly number[]): Promise<readonly number[]> {
  if (seqs.length === 0) return [];
  await tx.jobs.remove(seqs, otherStates);
  const where = [
    { field: "seq", op: "in", value: seqs },
    { field: "state", op: "=", value: "running" },
  ] as const;
  return (await tx.find("jobs", { where })).map(({ seq }) => seq);
}
