import { EscrowMirrorError } from "../shared/errors.ts";
import type { Condition, FieldOf, Query, StoreReader } from "../store/store.ts";
import { tables, type ColumnType, type TableName, type Tables } from "../store/tables.ts";
import { shown, textOf } from "./arguments.ts";

/** One page of a list. Pages follow a key that never changes, so that no row is skipped or seen twice. */
export interface Page<Item> {
  readonly items: Item[];
  /** Give it as `cursor` for the next page; `null` on the last. */
  readonly nextCursor: string | null;
}

export interface PageRequest {
  /** How many items at most: 1 to 500, default 50. */
  readonly limit?: number | undefined;
  /** Where the page before ended. */
  readonly cursor?: string | null | undefined;
}

const pageLimitDefault = 50;
const pageLimitMax = 500;

/** @throws EscrowMirrorError `invalid-argument` */
function checkLimit(limit: number = pageLimitDefault): number {
  if (Number.isInteger(limit) && limit >= 1 && limit <= pageLimitMax) return limit;
  throw new EscrowMirrorError(
    "invalid-argument",
    `limit is ${shown(limit)}: a whole number from 1 to ${pageLimitMax} is expected`,
  );
}

export interface PageQuery<Name extends TableName> {
  readonly where: readonly Condition<Tables[Name]>[];
  /** The key that the pages follow: one or two fields that are never null. */
  readonly by: readonly [FieldOf<Name>] | readonly [FieldOf<Name>, FieldOf<Name>];
  readonly descending?: boolean;
  readonly without?: readonly FieldOf<Name>[];
}

/** @throws EscrowMirrorError `invalid-argument` for a limit or a cursor that is none */
export async function findPage<Name extends TableName>(
  reader: StoreReader,
  table: Name,
  query: PageQuery<Name>,
  request: PageRequest,
): Promise<Page<Tables[Name]>> {
  const limit = checkLimit(request.limit);
  const after = request.cursor == null ? undefined : parseCursor(table, request.cursor, query.by);
  const rows: Tables[Name][] = [];
  // What is behind (a, b): the rest of a, then all behind a.
  for (const bounds of boundsBehind(query, after)) {
    const missing = limit + 1 - rows.length;
    if (missing > 0) rows.push(...(await reader.find(table, toQuery(query, bounds, missing))));
  }
  const items = rows.slice(0, limit);
  const last = items.at(-1);
  const isLast = rows.length <= limit || last === undefined;
  return { items, nextCursor: isLast ? null : toCursor(query.by.map((field) => last[field])) };
}

function boundsBehind<Name extends TableName>(
  { by, descending }: PageQuery<Name>,
  after: readonly (string | number)[] | undefined,
): Condition<Tables[Name]>[][] {
  if (after === undefined) return [[]];
  const op = descending === true ? "<" : ">";
  const behind = (index: number) => ({ field: by[index], op, value: after[index] });
  const rest = by.length === 1 ? [] : [[{ field: by[0], op: "=", value: after[0] }, behind(1)]];
  return [...rest, [behind(0)]] as unknown as Condition<Tables[Name]>[][];
}

function toQuery<Name extends TableName>(
  query: PageQuery<Name>,
  bounds: readonly Condition<Tables[Name]>[],
  limit: number,
): Query<Tables[Name]> {
  const { where, by, descending = false, without = [] } = query;
  return { where: [...where, ...bounds], orderBy: by, descending, without, limit };
}

function toCursor(key: readonly unknown[]): string {
  return Buffer.from(JSON.stringify(key)).toString("base64url");
}

function parseCursor<Name extends TableName>(
  table: Name,
  cursor: string,
  by: readonly FieldOf<Name>[],
): (string | number)[] {
  try {
    const key: unknown = JSON.parse(Buffer.from(textOf(cursor, "cursor"), "base64url").toString());
    const fits = (part: unknown, index: number) => isKeyOf(table, by[index], part);
    if (Array.isArray(key) && key.length === by.length && key.every(fits)) return key as (string | number)[];
  } catch {
    // Text that no list of ours gave.
  }
  throw new EscrowMirrorError(
    "invalid-argument",
    "cursor is not one that this list gave: pass nextCursor as it came",
  );
}

/** Another list's cursor would start anywhere: keys are compared only with their own kind, numbers with whole ones. */
function isKeyOf<Name extends TableName>(
  table: Name,
  field: FieldOf<Name> | undefined,
  part: unknown,
): boolean {
  const columns: Readonly<Record<string, ColumnType>> = tables[table].columns;
  return columns[field ?? ""] === "text" ? typeof part === "string" : Number.isSafeInteger(part);
}
