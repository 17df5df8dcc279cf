import type { Expression, ExpressionBuilder, Kysely, SqlBool } from "kysely";
import { columnOf } from "../sql/codec.ts";
import { namesIn, type TablePlace } from "../sql/dialect.ts";
import {
  keepOnce,
  keyNames,
  markers,
  names,
  restNames,
  rowStatement,
  type AnyDatabase,
  type RowStatement,
} from "../sql/statements.ts";
import { tables, type TableName } from "../tables.ts";
import { selective } from "./selective.ts";

export type RowStatements = ReturnType<typeof createRowStatements>;

/**
 * The statements that run row by row. Kysely compiles each once for each table: it then runs as a prepared statement, at the
 * driver's own speed.
 */
export function createRowStatements(kysely: Kysely<AnyDatabase>, place: TablePlace) {
  const kept = keepOnce();
  const named = namesIn(place);

  return {
    insert: (table: TableName): RowStatement =>
      kept(`insert ${table}`, () =>
        rowStatement(
          table,
          kysely
            .insertInto(named(table))
            .values(markers(table))
            .onConflict((conflict) => conflict.doNothing()),
        ),
      ),

    upsert: (table: TableName): RowStatement =>
      kept(`upsert ${table}`, () =>
        rowStatement(
          table,
          kysely
            .insertInto(named(table))
            .values(markers(table))
            .onConflict((conflict) =>
              conflict
                .columns(keyNames(table))
                .doUpdateSet((eb) =>
                  Object.fromEntries(restNames(table).map((name) => [name, eb.ref(`excluded.${name}`)])),
                ),
            ),
        ),
      ),

    update: (table: TableName, field: string, set: readonly string[]): RowStatement =>
      kept(`update ${table} ${field} ${set.join()}`, () =>
        rowStatement(
          table,
          kysely
            .updateTable(named(table))
            .set(Object.fromEntries(set.map((each) => [columnOf(table, each).name, each])))
            .where(isField(table, field)),
        ),
      ),

    lookup: (table: TableName, field: string, without: readonly string[], limit?: number): RowStatement =>
      kept(`lookup ${table} ${field} ${without.join()} ${limit}`, () => {
        const rows = kysely.selectFrom(named(table)).select(names(table, without));
        const found = rows.where(isField(table, field));
        return rowStatement(table, limit === undefined ? found : found.limit((eb) => eb.lit(limit)));
      }),

    lookupKeys: (table: TableName, without: readonly string[]): RowStatement =>
      kept(`lookup keys ${table} ${without.join()}`, () => {
        let found = kysely.selectFrom(named(table)).select(names(table, without));
        for (const field of tables[table].key) found = found.where(isField(table, field));
        return rowStatement(table, found);
      }),
  };
}

function isField(table: TableName, field: string) {
  return (eb: ExpressionBuilder<AnyDatabase, string>): Expression<SqlBool> =>
    selective(eb(columnOf(table, field).name, "=", field));
}
