import { EscrowMirrorError } from "../shared/errors.ts";
import { nextTurn } from "../shared/timers.ts";
import { compareStored } from "../store/stored-text.ts";
import type { Place } from "../store/pages.ts";
import type { Condition, FieldOf, StoreReader, Stretch } from "../store/store.ts";
import { allBut, tables, type TableName, type Tables } from "../store/tables.ts";
import type { ColumnType } from "../store/tables/shape.ts";
import { shown, textOf } from "./arguments.ts";
import { walkThrough, type List, type Path } from "./paths.ts";

/**
 * One page of a list. With several filters a page can have few items, or none, and still have a `nextCursor`: one read checks
 * at most 5,000 rows.
 */
export interface Page<Item> {
  /** The items of this page. */
  readonly items: Item[];
  /** The `cursor` of the next page, for the same filter. `null` on the last page. */
  readonly nextCursor: string | null;
}

/** Asks for one page. */
export interface PageRequest {
  /** How many items at most: 1 to 500, default 50. */
  readonly limit?: number | undefined;
  /** The `nextCursor` of the page before. */
  readonly cursor?: string | null | undefined;
}

const pageLimitDefault = 50;
const pageLimitMax = 500;

/** How many rows a page looks at where no index answers the whole filter. It then ends, however few it found. */
const rowsLookedAtMax = 5000;

/**
 * Goes along one index, in its order.
 *
 * @throws EscrowMirrorError `invalid-argument` for a limit or a cursor that is none
 */
export async function findPage<Name extends TableName>(
  reader: StoreReader,
  list: List<Name>,
  where: readonly Condition<Tables[Name]>[],
  request: PageRequest,
): Promise<Page<Tables[Name]>> {
  const limit = checkLimit(request.limit);
  const { path, stretches, rest } = walkThrough(list, where);
  const after = request.cursor == null ? undefined : parseCursor(list, path, request.cursor);
  const looking = { list, limit, where: rest };
  const looked: Looked<Tables[Name]>[] = [];
  for (const stretch of stretches) {
    if (looked.length > 0) await nextTurn();
    looked.push(await look(reader, looking, { ...stretch, after }));
  }
  return join(looked, limit, { list, path });
}

/** @throws EscrowMirrorError `invalid-argument` */
function checkLimit(limit: number = pageLimitDefault): number {
  if (Number.isInteger(limit) && limit >= 1 && limit <= pageLimitMax) return limit;
  throw new EscrowMirrorError(
    "invalid-argument",
    `limit is ${shown(limit)}: a whole number from 1 to ${pageLimitMax} is expected`,
  );
}

/** The rows found along one stretch. */
interface Looked<Row> {
  readonly rows: readonly Row[];
  /** The place that it looked up to; `undefined` where that is the end. */
  readonly end: Place | undefined;
}

interface Looking<Name extends TableName> {
  readonly list: List<Name>;
  readonly limit: number;
  readonly where: readonly Condition<Tables[Name]>[];
}

/** One more row than the page holds tells whether there is another page. */
async function look<Name extends TableName>(
  reader: StoreReader,
  { list, limit, where }: Looking<Name>,
  stretch: Omit<Stretch<Tables[Name]>, "rowsMax">,
): Promise<Looked<Tables[Name]>> {
  const { table, without = [] } = list;
  const rowsMax = where.length === 0 ? limit + 1 : rowsLookedAtMax;
  const rows = await reader.walk(table, { ...stretch, rowsMax }, { where, limit: limit + 1, without });
  const [beyond] = rows.slice(limit);
  if (beyond !== undefined) return { rows, end: placeOf(beyond, stretch.by) };
  if (where.length === 0) return { rows, end: undefined };
  const [last] = await reader.walk(
    table,
    { ...stretch, rowsMax: 1, skip: rowsMax - 1 },
    { without: allBut(table, stretch.by) },
  );
  return { rows, end: last && placeOf(last, stretch.by) };
}

/** The rows of several stretches in one order, up to where each was read. */
function join<Name extends TableName>(
  looked: readonly Looked<Tables[Name]>[],
  limit: number,
  { list, path }: { readonly list: List<Name>; readonly path: Path<Name> },
): Page<Tables[Name]> {
  const sign = list.descending === true ? -1 : 1;
  const compare = (a: Place, b: Place): number => sign * comparePlaces(a, b);
  const [end] = looked.flatMap((each) => (each.end === undefined ? [] : [each.end])).sort(compare);
  const all = looked
    .flatMap(({ rows }) => rows)
    .map((row) => ({ row, place: placeOf(row, path.by) }))
    .filter(({ place }) => end === undefined || compare(place, end) <= 0);
  if (looked.length > 1) all.sort((a, b) => compare(a.place, b.place));
  const items = all.slice(0, limit);
  const next = all.length > limit ? items.at(-1)?.place : end;
  return {
    items: items.map(({ row }) => row),
    nextCursor: next === undefined ? null : toCursor(list, path, next),
  };
}

function comparePlaces(a: Place, b: Place): number {
  for (const [index, part] of a.entries()) {
    const order = compareStored(part, b[index] as string | number);
    if (order !== 0) return order;
  }
  return 0;
}

function placeOf<Row>(row: Row, by: readonly (keyof Row & string)[]): Place {
  return by.map((field) => row[field] as string | number);
}

/** Names the list and its path, so that no other takes it for a place of its own. */
function toCursor<Name extends TableName>(
  { table, paths }: List<Name>,
  path: Path<Name>,
  place: Place,
): string {
  return Buffer.from(JSON.stringify([table, paths.indexOf(path), ...place])).toString("base64url");
}

function parseCursor<Name extends TableName>(list: List<Name>, path: Path<Name>, cursor: string): Place {
  try {
    const parts: unknown = JSON.parse(Buffer.from(textOf(cursor, "cursor"), "base64url").toString());
    const [table, index, ...place] = parts as unknown[];
    const isOurs = table === list.table && list.paths[Number(index)] === path;
    const fits = place.length === path.by.length;
    if (isOurs && fits && place.every((part, at) => isKeyOf(list.table, path.by[at], part)))
      return place as Place;
  } catch {
    // Text that no list of ours gave.
  }
  throw new EscrowMirrorError(
    "invalid-argument",
    "cursor is not from this list: pass nextCursor unchanged, with the same filter",
  );
}

/** Keys are compared only with their own kind, numbers with whole ones. */
function isKeyOf<Name extends TableName>(
  table: Name,
  field: FieldOf<Name> | undefined,
  part: unknown,
): boolean {
  const columns: Readonly<Record<string, ColumnType>> = tables[table].columns;
  return columns[field ?? ""] === "text" ? typeof part === "string" : Number.isSafeInteger(part);
}
