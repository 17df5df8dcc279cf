/** Rows in plain maps, picked and put in order as the store's port says. */
import { compareStored } from "../store/stored-text.ts";
import type { Condition, Stretch } from "../store/store.ts";
import { tables, type TableName } from "../store/tables.ts";

export type Row = Readonly<Record<string, unknown>>;

export function stretchOf<R>(rows: readonly Row[], stretch: Stretch<R>): Row[] {
  const { of, by, descending = false, present = [], skip = 0, rowsMax } = stretch;
  const inside = rows.filter(
    (row) =>
      (of === undefined || row[of.field] === of.value) &&
      present.every((field) => row[field] !== null) &&
      isWithin(row, stretch),
  );
  return inside.sort(byFields(by, descending)).slice(skip, skip + rowsMax);
}

function isWithin<R>(row: Row, { by, descending = false, after = [], from, until }: Stretch<R>): boolean {
  const [first = ""] = by;
  const value = row[first] as string | number | null;
  if (value === null) return false;
  if (from !== undefined && compareStored(value, from) < 0) return false;
  if (until !== undefined && compareStored(value, until) >= 0) return false;
  const place = Object.fromEntries(by.map((field, index) => [field, after[index]]));
  return after.length === 0 || byFields(by.slice(0, after.length), descending)(row, place) > 0;
}

export function blank(without: readonly string[] = []): (row: Row) => Row {
  const blanks = Object.fromEntries(without.map((field) => [field, null]));
  return (row) => (without.length === 0 ? row : { ...row, ...blanks });
}

export function numbered(table: TableName, row: Row, nextSeq: () => number): Row {
  return "seq" in tables[table].columns ? { ...row, seq: nextSeq() } : row;
}

/** A key with a null in it is no key: SQL's unique constraints let any number of them in. */
export function keyOf(table: TableName, row: Row): string {
  const values = tables[table].key.map((field) => row[field]);
  return values.includes(null) ? `unkeyed ${String(row["seq"])}` : JSON.stringify(values);
}

export function collides(table: TableName, taken: Row, row: Row): boolean {
  const { key, unique } = tables[table];
  if (key.every((field) => row[field] !== null && taken[field] === row[field])) return true;
  return unique.some((field) => row[field] !== null && taken[field] === row[field]);
}

export function holds<R>(row: Row, condition: Condition<R>): boolean {
  const value = row[condition.field] as string | number | null;
  if (condition.op === "null") return value === null;
  if (condition.op === "in") return condition.value.includes(value);
  if (value === null) return false;
  switch (condition.op) {
    case "not-null":
      return true;
    case "=":
      return value === condition.value;
    case "<":
      return compareStored(value, condition.value) < 0;
    case "<=":
      return compareStored(value, condition.value) <= 0;
    case ">":
      return compareStored(value, condition.value) > 0;
    case ">=":
      return compareStored(value, condition.value) >= 0;
  }
}

export function byFields(fields: readonly string[], descending: boolean): (a: Row, b: Row) => number {
  return (a, b) => {
    for (const field of fields) {
      const order = compareStored(a[field] as string | number, b[field] as string | number);
      if (order !== 0) return descending ? -order : order;
    }
    return 0;
  };
}
