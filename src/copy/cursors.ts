/** Handlers that still go through older deliveries stand at one of them, which has another number in another database. */
import type { Store } from "../store/store.ts";
import { allBut, type TableName, type Tables } from "../store/tables.ts";
import type { SubscriptionRow } from "../store/tables/handlers.ts";

/** The source's rows as they are to be in the target, which has the deliveries already. */
export async function asInTarget<Name extends TableName>(
  source: Store,
  target: Store,
  table: Name,
  page: readonly Tables[Name][],
): Promise<Tables[Name][]> {
  if (table !== "subscriptions") return [...page];
  const rows = page as readonly SubscriptionRow[];
  return Promise.all(
    rows.map(async (row) => ({ ...row, cursor: await cursorIn(source, target, row.cursor) })),
  ) as Promise<Tables[Name][]>;
}

async function cursorIn(source: Store, target: Store, cursor: number | null): Promise<number | null> {
  if (cursor === null) return null;
  const [passed] = await newest(source, cursor);
  if (passed === undefined) return 0;
  const [same] = await target.read((reader) =>
    reader.lookup("deliveries", "contentKey", [passed.contentKey], keyOnly),
  );
  if (same !== undefined) return same.seq;
  // It came after the deliveries were copied: all that are there are behind the cursor.
  return (await newest(target, Number.MAX_SAFE_INTEGER))[0]?.seq ?? 0;
}

/** The newest delivery up to a number. */
function newest(store: Store, seq: number): Promise<Tables["deliveries"][]> {
  return store.read((reader) =>
    reader.find("deliveries", {
      where: [{ field: "seq", op: "<=", value: seq }],
      orderBy: ["seq"],
      descending: true,
      limit: 1,
      without: keyOnly,
    }),
  );
}

const keyOnly = allBut("deliveries", ["seq", "contentKey"]);
