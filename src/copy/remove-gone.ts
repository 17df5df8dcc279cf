import type { FieldOf, Store, StoreReader } from "../store/store.ts";
import type { TableName } from "../store/tables.ts";
import { pagesOf } from "./pages.ts";
import { identityOf, isKeyed, isRow, valueOf } from "./rows.ts";
import { alikeIn } from "./write-page.ts";

/** The parent of a row, by a field that both have. */
interface Owner {
  readonly table: "contracts" | "deliveries";
  readonly field: "contractId" | "contentKey";
}

const ofContract: Owner = { table: "contracts", field: "contractId" };

/** `null` where a row hangs on nothing. What is not here never goes: deliveries and inputs are what was received, intents what was begun. */
const owners: { readonly [Name in TableName]?: Owner | null } = {
  payloads: { table: "deliveries", field: "contentKey" },
  milestones: ofContract,
  refunds: ofContract,
  payments: ofContract,
  disputes: ofContract,
  transitions: ofContract,
  anomalies: ofContract,
  subscriptions: null,
  jobs: null,
  workers: null,
  failures: null,
  progress: null,
  leases: null,
};

/**
 * Removes from the target what the source has no more: a late event took a gap away, a refold came out shorter, a payload was
 * pruned, a worker ended. Of contracts and deliveries that the source knows, lest what the target has received goes. And
 * anomalies for good that the target noted by itself, which have no key: the source has its own.
 */
export async function removeGone(
  source: Store,
  target: Store,
  table: TableName,
  pageRows: number,
): Promise<void> {
  const owner = owners[table];
  if (owner === undefined) return;
  for await (const page of pagesOf(target, table, { pageRows })) {
    const [kept, isOwned] = await source.read(async (reader) => [
      new Set((await alikeIn(reader, table, page)).map((row) => identityOf(table, row))),
      await ownedBy(reader, owner, page),
    ]);
    const gone = page.filter(
      (row) => !kept.has(identityOf(table, row)) && (!isKeyed(table, row) || isOwned(row)),
    );
    if (gone.length === 0) continue;
    await target.transaction(async (tx) => {
      for (const row of gone) await tx.remove(table, isRow(table, row));
    });
  }
}

async function ownedBy(
  reader: StoreReader,
  owner: Owner | null,
  rows: readonly object[],
): Promise<(row: object) => boolean> {
  if (owner === null) return () => true;
  const { table, field } = owner;
  const values = new Set(rows.map((row) => valueOf(row, field) as string | null));
  const some = [...values].filter((value) => value !== null);
  const known = await reader.lookup(table, field as FieldOf<typeof table>, some);
  const owning = new Set(known.map((row) => valueOf(row, field)));
  return (row) => owning.has(valueOf(row, field));
}
