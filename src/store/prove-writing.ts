import type { StoreTransaction } from "./store.ts";

/**
 * Fails where this transaction can't write, and writes nothing: it sets a field of a delivery that there is not. SQLite
 * begins a transaction on a file too that it may only read, and says so to the first statement that would write, whether or
 * not there is a row for it; Postgres looks at the rights in the table then.
 */
export async function proveWriting(tx: StoreTransaction): Promise<void> {
  await tx.updateEach("deliveries", "id", [{ id: idOfNone, attempts: 0 }]);
}

/** Blank text is no id (`shared/ids.ts`). */
const idOfNone = "";
