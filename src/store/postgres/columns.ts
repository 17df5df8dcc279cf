/** A batch of rows as a statement on Postgres takes it: one array for each column, `unnest` makes rows of them again. */
import { sql, type RawBuilder } from "kysely";
import { columnsOf, type Column } from "../sql/codec.ts";
import type { ArrayType } from "./array.ts";
import { tables, type TableName } from "../tables.ts";
import type { ColumnType } from "../tables/shape.ts";

/** The columns that we write: the database numbers the rows itself. */
export function written(table: TableName): readonly Column[] {
  return columnsOf(table).filter(({ type }) => type !== "serial");
}

/** The field that identifies the rows of a batch: an insert reports by it which were inserted. */
export function identityOf(table: TableName): readonly Column[] {
  const { key, unique } = tables[table];
  const fields = new Set<string>([...key, ...unique]);
  return columnsOf(table).filter(
    ({ field, type }) => key.some((each) => each === field) || (fields.has(field) && type === "hex"),
  );
}

export function arrayTypeOf(type: ColumnType): ArrayType {
  switch (type) {
    case "text":
    case "json":
      return "text";
    case "serial":
    case "integer":
    case "boolean":
      return "bigint";
    case "bytes":
    case "hex":
      return "bytea";
  }
}

export function unnest(columns: readonly Column[]): RawBuilder<unknown> {
  return sql`unnest(${sql.join(columns.map(({ field, type }) => array(field, type)))})`;
}

/** The field's name as the value: it says what to bind. */
export function array(field: string, type: ColumnType): RawBuilder<unknown> {
  return sql`${field}::${sql.raw(arrayTypeOf(type))}[]`;
}

/** Names of columns, with commas between. */
export function refs(names: Iterable<string>): RawBuilder<unknown> {
  return sql.join([...names].map((name) => sql.ref(name)));
}
