import { EscrowMirrorError } from "../shared/errors.ts";
import { lastOfFull, type Place } from "../store/pages.ts";
import type { Store, StoreTransaction } from "../store/store.ts";
import { allBut } from "../store/tables.ts";

/** How many of its jobs one transaction looks at: nobody waits for the length of a backlog. */
const removedRows = 200;

/** Removes its jobs first: if the process ends meanwhile, the handler is still there, and can be removed again. */
export async function removeHandler(store: Store, name: string): Promise<void> {
  let after: Place | undefined;
  do after = await store.transaction((tx) => removePage(tx, name, after));
  while (after !== undefined);
}

/** @returns where the next page begins; with the last one the handler is gone */
async function removePage(
  tx: StoreTransaction,
  name: string,
  after: Place | undefined,
): Promise<Place | undefined> {
  await tx.jobs.lockSubscriptions("exclusive");
  const [known] = await tx.lookup("subscriptions", "name", [name]);
  if (known === undefined) throw new EscrowMirrorError("not-found", `no handler is named ${name}`);
  const rows = await tx.walk(
    "jobs",
    { of: { field: "handler", value: name }, by: ["createdAt", "seq"], after, rowsMax: removedRows },
    { without: allBut("jobs", ["createdAt", "seq"]) },
  );
  if (rows.length > 0)
    await tx.remove("jobs", [
      { field: "seq", op: "in", value: rows.map(({ seq }) => seq) },
      { field: "state", op: "in", value: ["waiting", "due", "dead"] },
    ]);
  const last = lastOfFull(rows, removedRows);
  if (last !== undefined) return [last.createdAt, last.seq];
  await tx.remove("subscriptions", [{ field: "name", op: "=", value: name }]);
  return undefined;
}
