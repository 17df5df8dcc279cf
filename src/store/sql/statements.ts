import { sql as sqlText, type Expression, type ExpressionBuilder, type Kysely, type SqlBool } from "kysely";
import { columnOf, columnsOf, encodeValue, type Column, type SqlValue } from "./codec.ts";
import type { Condition, Query } from "../store.ts";
import { namesIn, type TablePlace } from "./dialect.ts";
import { tables, type TableName, type Tables } from "../tables.ts";

/** SQL text with the values of one run, or the columns whose values each run gives. */
export interface BoundStatement {
  readonly sql: string;
  readonly values: readonly SqlValue[];
}

export interface RowStatement {
  readonly sql: string;
  /** The values to bind, in order. */
  readonly columns: readonly Column[];
}

/** Any tables: the statements are made from the table shapes, not from types. */
export type AnyDatabase = Record<string, Record<string, unknown>>;

/** A condition for a value, as a database is told it: that few rows meet it. */
export type Selective = (condition: Expression<SqlBool>) => Expression<SqlBool>;

/** The statements that each call shapes anew, by the conditions that it gives. */
export function createStatements(
  kysely: Kysely<AnyDatabase>,
  place: TablePlace,
  selective: Selective = (condition) => condition,
) {
  const named = namesIn(place);

  return {
    find: <Name extends TableName>(table: Name, query: Query<Tables[Name]>): BoundStatement => {
      let builder = kysely.selectFrom(named(table)).select(names(table, query.without ?? []));
      for (const condition of query.where ?? [])
        builder = builder.where(toWhere(table, condition, selective));
      for (const field of query.orderBy ?? [])
        builder = builder.orderBy(columnOf(table, field).name, query.descending === true ? "desc" : "asc");
      // Not bound: SQLite plans a statement anew whenever a limit is bound to it.
      return bound(query.limit === undefined ? builder : builder.limit(sqlText.lit(query.limit)));
    },

    remove: <Name extends TableName>(
      table: Name,
      conditions: readonly Condition<Tables[Name]>[],
    ): BoundStatement => {
      let builder = kysely.deleteFrom(named(table));
      for (const condition of conditions) builder = builder.where(toWhere(table, condition, selective));
      return bound(builder);
    },
  };
}

/** Makes each statement once. */
export function keepOnce(): (key: string, make: () => RowStatement) => RowStatement {
  const made = new Map<string, RowStatement>();
  return (key, make) => {
    const known = made.get(key) ?? make();
    made.set(key, known);
    return known;
  };
}

export type Statements = ReturnType<typeof createStatements>;

export interface Compilable {
  compile(): { readonly sql: string; readonly parameters: readonly unknown[] };
}

/** A statement whose parameters were given as field names: they say what to bind where. */
export function rowStatement(table: TableName, builder: Compilable): RowStatement {
  const { sql, parameters } = builder.compile();
  return { sql, columns: parameters.map((field) => columnOf(table, field as string)) };
}

function bound(builder: Compilable): BoundStatement {
  const { sql, parameters } = builder.compile();
  return { sql, values: parameters as SqlValue[] };
}

type Where = (eb: ExpressionBuilder<AnyDatabase, string>) => Expression<SqlBool>;

function toWhere<Row>(table: TableName, condition: Condition<Row>, selective: Selective): Where {
  const { name, type } = columnOf(table, condition.field);
  switch (condition.op) {
    case "null":
      return (eb) => eb(name, "is", null);
    case "not-null":
      return (eb) => eb(name, "is not", null);
    case "in":
      return toIn(
        name,
        condition.value.map((each) => encodeValue(type, each)),
        selective,
      );
    case "=":
      return (eb) => selective(eb(name, "=", encodeValue(type, condition.value)));
    case "<":
    case "<=":
    case ">":
    case ">=":
      return (eb) => eb(name, condition.op, encodeValue(type, condition.value));
  }
}

/** SQL's own `in` never finds a null, and an empty list is no SQL on every database. */
function toIn(name: string, values: readonly SqlValue[], selective: Selective): Where {
  const some = values.filter((value) => value !== null);
  const isOne: Where = (eb) => selective(eb(name, "in", some.length === 0 ? [null] : some));
  return values.includes(null) ? (eb) => eb.or([isOne(eb), eb(name, "is", null)]) : isOne;
}

/** Each column with its own field's name as the value. The database numbers the rows itself. */
export function markers(table: TableName): Record<string, string> {
  const given = columnsOf(table).filter(({ type }) => type !== "serial");
  return Object.fromEntries(given.map(({ name, field }) => [name, field]));
}

export function names(table: TableName, without: readonly string[]): string[] {
  return columnsOf(table)
    .filter(({ field }) => !without.includes(field))
    .map(({ name }) => name);
}

export function keyNames(table: TableName): string[] {
  return tables[table].key.map((field) => columnOf(table, field).name);
}

export function restNames(table: TableName): string[] {
  const key = keyNames(table);
  return Object.keys(markers(table)).filter((name) => !key.includes(name));
}
