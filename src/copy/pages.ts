import type { Place } from "../store/pages.ts";
import type { FieldOf, Store } from "../store/store.ts";
import { tables, type TableName, type Tables } from "../store/tables.ts";
import { valueOf } from "./rows.ts";

export interface Paging<Name extends TableName> {
  readonly pageRows: number;
  /** The first page begins behind it. */
  readonly after?: Place | undefined;
  readonly without?: readonly FieldOf<Name>[];
}

/**
 * The rows of a table by the number that the database gave, else by their key, a page at a time. A page is one read, so that
 * whoever receives meanwhile hardly waits.
 */
export async function* pagesOf<Name extends TableName>(
  store: Store,
  table: Name,
  { pageRows, after: begin, without = [] }: Paging<Name>,
): AsyncGenerator<Tables[Name][]> {
  const by = orderOf(table);
  const rowsMax = Math.min(pageRows, largeRows[table] ?? pageRows);
  for (let after = begin; ;) {
    const page = await store.read((reader) => reader.walk(table, { by, after, rowsMax }, { without }));
    const last = page.at(-1);
    if (last === undefined) return;
    yield page;
    after = placeOf(table, last);
  }
}

/** Rows that may be large are read a few at a time: a body may have a megabyte. */
const largeRows: { readonly [Name in TableName]?: number } = { payloads: 32 };

export function isNumbered(table: TableName): boolean {
  return "seq" in tables[table].columns;
}

export function orderOf<Name extends TableName>(table: Name): readonly FieldOf<Name>[] {
  return (isNumbered(table) ? ["seq"] : tables[table].key) as readonly FieldOf<Name>[];
}

export function placeOf(table: TableName, row: object): Place {
  return orderOf(table).map((field) => valueOf(row, field) as string | number);
}
