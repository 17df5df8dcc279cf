/**
 * Writes stretches of indexes as SQL, so that the database has to use that index. If its statistics are old, or made while the
 * table was small, it may think that a value is frequent, and read the whole table in another order. Two things prevent this.
 * `order by` names every field of the index, the one with the fixed value too. And that field has no `field = value`, but bounds:
 * with an equality the database could drop it from the order, and use another index.
 */
import { columnOf, columnsOf, encodeValue, type SqlValue } from "./codec.ts";
import type { Dialect } from "./dialect.ts";
import type { BoundStatement } from "./statements.ts";
import { compareStored } from "../stored-text.ts";
import type { Condition, Picking, Stretch } from "../store.ts";
import { tables, type TableName, type Tables } from "../tables.ts";

export type Walks = ReturnType<typeof createWalks>;

/** Gives the place in SQL text of a value that is bound. */
type Bind = (value: SqlValue) => string;

/** @param named a table's name as SQL text */
export function createWalks({ marker, types: { longKey } }: Dialect, named: (table: TableName) => string) {
  return {
    walk: <Name extends TableName>(
      table: Name,
      stretch: Stretch<Tables[Name]>,
      { where = [], limit = stretch.rowsMax, without = [] }: Picking<Tables[Name]>,
    ): BoundStatement =>
      written((bind) => {
        const columns = listed(table, without);
        if (where.length === 0) {
          const rowsMax = Math.min(limit, stretch.rowsMax);
          return rowsOf(bind, table, { ...stretch, rowsMax }, columns);
        }
        // Read by themselves: what is picked among the rows has no part in how they are found.
        const rows = rowsOf(bind, table, stretch, "*");
        const picked = where.map((condition) => conditionOf(bind, table, condition));
        return `select ${columns} from (${rows}) as looked_at where ${picked.join(" and ")} limit ${limit}`;
      }),

    count: <Name extends TableName>(table: Name, stretch: Stretch<Tables[Name]>): BoundStatement =>
      written((bind) => `select count(*) from (${rowsOf(bind, table, stretch, "1")}) as counted`),
  };

  /** Values are bound in the order in which the text names them. */
  function written(write: (bind: Bind) => string): BoundStatement {
    const values: SqlValue[] = [];
    const sql = write((value) => marker(values.push(value)));
    return { sql, values };
  }

  function rowsOf<Row>(bind: Bind, table: TableName, stretch: Stretch<Row>, columns: string): string {
    const { of, by, descending = false, skip = 0, rowsMax } = stretch;
    const keys = [...(of === undefined ? [] : [of.field]), ...by].map((field) => keyOf(table, field));
    const terms = termsOf(bind, table, stretch);
    const where = terms.length === 0 ? "" : ` where ${terms.join(" and ")}`;
    const order = keys.map((key) => key + (descending ? " desc" : "")).join(", ");
    // Not bound: SQLite plans a statement anew whenever a limit is bound to it.
    const limit = `limit ${rowsMax}${skip === 0 ? "" : ` offset ${skip}`}`;
    return `select ${columns} from ${named(table)}${where} order by ${order} ${limit}`;
  }

  function termsOf<Row>(bind: Bind, table: TableName, stretch: Stretch<Row>): string[] {
    const { of, present = [] } = stretch;
    const terms = present.map((field) => `${nameOf(table, field)} is not null`);
    if (of?.value === null) terms.push(`${nameOf(table, of.field)} is null`);
    for (const bound of boundsOf(table, stretch)) terms.push(boundOf(bind, table, bound));
    // Of a long text the index may hold a hash, and two texts may share one.
    if (longKey !== null && of?.value != null && isLong(table, of.field))
      terms.push(`${nameOf(table, of.field)} = ${bind(encode(table, of.field, of.value))}`);
    return terms;
  }

  function boundOf(bind: Bind, table: TableName, { fields, op, values }: Bound): string {
    const keys = fields.map((field) => keyOf(table, field));
    const places = fields.map((field, index) =>
      toKey(table, field, bind(encode(table, field, values[index]))),
    );
    return `${tupleOf(keys)} ${op} ${tupleOf(places)}`;
  }

  /** The field as the index holds it. */
  function keyOf(table: TableName, field: string): string {
    return toKey(table, field, nameOf(table, field));
  }

  function toKey(table: TableName, field: string, sql: string): string {
    return longKey !== null && isLong(table, field) ? longKey(sql) : sql;
  }
}

function isLong(table: TableName, field: string): boolean {
  return tables[table].long?.some((each) => each === field) === true;
}

/** A comparison of several fields at once, as one key. */
interface Bound {
  readonly fields: readonly string[];
  readonly op: "<" | "<=" | ">" | ">=";
  readonly values: readonly (string | number)[];
}

function boundsOf<Row>(
  table: TableName,
  { of, by, descending = false, after, from, until }: Stretch<Row>,
): Bound[] {
  const [fields, head] = of?.value == null ? [by, []] : [[of.field, ...by], [of.value]];
  const bound = (op: Bound["op"], place: readonly (string | number)[] = []): Bound[] => {
    const values = [...head, ...place];
    return values.length === 0 ? [] : [{ fields: fields.slice(0, values.length), op, values }];
  };
  // A walk through all rows has a bound too: a sort could look cheaper than a walk that asks for nothing.
  const isText = columnOf(table, String(by[0])).type === "text";
  const least = from ?? (of === undefined && isText ? "" : undefined);
  const lowest = bound(">=", least === undefined ? [] : [least]);
  const highest = until === undefined ? bound("<=") : bound("<", [until]);
  // A place outside the bounds, which a cursor may hold that somebody made up, does not lead out of them.
  const [first] = after ?? [];
  const isInside = descending
    ? until === undefined || compareStored(first ?? "", until) < 0
    : least === undefined || compareStored(first ?? "", least) >= 0;
  if (after === undefined || !isInside) return [...lowest, ...highest];
  return descending ? [...lowest, ...bound("<", after)] : [...bound(">", after), ...highest];
}

function conditionOf<Row>(bind: Bind, table: TableName, condition: Condition<Row>): string {
  const { field, op } = condition;
  const name = nameOf(table, field);
  switch (op) {
    case "null":
      return `${name} is null`;
    case "not-null":
      return `${name} is not null`;
    case "in": {
      const some = condition.value.filter((value) => value !== null);
      const isNull = some.length < condition.value.length ? [`${name} is null`] : [];
      const isOne = some.map((value) => `${name} = ${bind(encode(table, field, value))}`);
      const ways = [...isOne, ...isNull];
      return ways.length === 0 ? "1 = 0" : `(${ways.join(" or ")})`;
    }
    case "=":
    case "<":
    case "<=":
    case ">":
    case ">=":
      return `${name} ${op} ${bind(encode(table, field, condition.value))}`;
  }
}

function encode(table: TableName, field: string, value: unknown): SqlValue {
  return encodeValue(columnOf(table, field).type, value);
}

function tupleOf(parts: readonly string[]): string {
  return parts.length === 1 ? String(parts[0]) : `(${parts.join(", ")})`;
}

function nameOf(table: TableName, field: string): string {
  return `"${columnOf(table, field).name}"`;
}

/** The columns that are read, as a list. */
function listed(table: TableName, without: readonly string[]): string {
  const read = columnsOf(table).filter(({ field }) => !without.includes(field));
  return read.map(({ name }) => `"${name}"`).join(", ");
}
