/** Prints lists of any length: page by page, as columns or as one JSON object a line. */
import type { Page, PageRequest } from "../../queries/page.ts";
import { createTable, type Column } from "./columns.ts";
import { counted } from "./counted.ts";
import { hasReader, note, print } from "./print.ts";

/** The largest page that the mirror gives: it needs the fewest reads. */
const pageItemsMax = 500;

/** The options of every list. */
export interface ListFlags {
  readonly json?: boolean;
  readonly limit?: number;
}

/** The pages of a list. */
export async function* pagesOf<Item>(
  list: (request: PageRequest) => Promise<Page<Item>>,
  limit = pageItemsMax,
): AsyncGenerator<Item[]> {
  let cursor: string | null = null;
  do {
    const page: Page<Item> = await list({ limit: Math.min(limit, pageItemsMax), cursor });
    if (page.items.length > 0) yield page.items;
    cursor = page.nextCursor;
  } while (cursor !== null);
}

/** The columns and the name of one kind of item. */
export interface Listing<Item> {
  readonly columns: readonly Column<Item>[];
  /** The name of one, for notes: `refund`. */
  readonly one: string;
  readonly many?: string;
}

/**
 * Prints the items of the pages.
 *
 * @returns how many were printed
 */
export async function printList<Item>(
  pages: AsyncIterable<Item[]>,
  { columns, one, many = `${one}s` }: Listing<Item>,
  { json = false, limit = Infinity }: ListFlags,
): Promise<number> {
  const table = createTable(columns);
  const toLines = json
    ? (items: readonly Item[]) => items.map((item) => JSON.stringify(item))
    : (items: readonly Item[]) => table.lines(items);
  let done = 0;
  let left = 0;
  for await (const items of pages) {
    const taken = items.slice(0, limit - done);
    left += items.length - taken.length;
    done += taken.length;
    if (taken.length > 0) await print(toLines(taken));
    if (left > 0 || !hasReader()) break;
  }
  if (done === 0) note(`No ${many} found.`);
  const are = done === 1 ? "is" : "are";
  if (left > 0) note(`There ${are} more than ${counted(done, one, many)}: leave --limit out to see all.`);
  return done;
}
