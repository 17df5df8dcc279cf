import { sql, type Kysely, type RawBuilder } from "kysely";
import { columnOf } from "../sql/codec.ts";
import { namesIn, type TablePlace } from "../sql/dialect.ts";
import { array, identityOf, refs, unnest, written } from "./columns.ts";
import {
  keepOnce,
  keyNames,
  names,
  restNames,
  rowStatement,
  type AnyDatabase,
  type Compilable,
  type RowStatement,
} from "../sql/statements.ts";
import { tables, type TableName } from "../tables.ts";
import type { ColumnType } from "../tables/shape.ts";

export type ArrayStatements = ReturnType<typeof createArrayStatements>;

/** The statements that take a whole batch: one array for each column, `unnest` makes rows of them again. */
export function createArrayStatements(kysely: Kysely<AnyDatabase>, place: TablePlace) {
  const kept = keepOnce();
  const named = namesIn(place);

  const inserting = (table: TableName) =>
    kysely
      .insertInto(named(table))
      .columns(written(table).map(({ name }) => name))
      .expression(sql`select * from ${unnest(written(table))}`);

  return {
    insertBlank,
    removeBlank,

    insert: (table: TableName): RowStatement =>
      kept(`insert ${table}`, () => rowStatement(table, insertingNew(table))),

    upsert: (table: TableName): RowStatement =>
      kept(`upsert ${table}`, () => rowStatement(table, upserting(table))),

    lookup: (table: TableName, field: string, without: readonly string[], limit?: number): RowStatement =>
      kept(`lookup ${table} ${field} ${without.join()} ${limit}`, () =>
        rowStatement(
          table,
          limit === undefined ? looking(table, field, without) : lookingForSome(table, field, without, limit),
        ),
      ),

    lookupKeys: (table: TableName, without: readonly string[]): RowStatement =>
      kept(`lookup keys ${table} ${without.join()}`, () =>
        rowStatement(table, lookingForKeys(table, without)),
      ),

    lock: (table: TableName, field: string, without: readonly string[]): RowStatement =>
      kept(`lock ${table} ${field} ${without.join()}`, () =>
        rowStatement(table, looking(table, field, without).orderBy(columnOf(table, field).name).forUpdate()),
      ),

    updateEach: (table: TableName, field: string, set: readonly string[]): RowStatement =>
      kept(`update ${table} ${field} ${set.join()}`, () => rowStatement(table, updating(table, field, set))),
  };

  function insertingNew(table: TableName): Compilable {
    return inserting(table)
      .onConflict((conflict) => conflict.doNothing())
      .returning(identityOf(table).map(({ name }) => name));
  }

  function upserting(table: TableName): Compilable {
    return inserting(table)
      .onConflict((conflict) =>
        conflict
          .columns(keyNames(table))
          .doUpdateSet((eb) =>
            Object.fromEntries(restNames(table).map((name) => [name, eb.ref(`excluded.${name}`)])),
          ),
      )
      .$if(tables[table].shared !== undefined, (query) => query.returning(lockShared(table)));
  }

  function updating(table: TableName, field: string, set: readonly string[]): Compilable {
    const columns = [field, ...set].map((each) => columnOf(table, each));
    const pairs = columns.slice(1).map(({ name, type }) => sql`${sql.ref(name)} = ${cast(name, type)}`);
    const key = columnOf(table, field).name;
    const query = sql`
      update ${sql.table(named(table))} as kept set ${sql.join(pairs)}
      from ${unnest(columns)} as given(${refs(columns.map(({ name }) => name))})
      where ${sql.ref(`kept.${key}`)} = ${sql.ref(`given.${key}`)}`;
    return { compile: () => query.compile(kysely) };
  }

  /** Rows that hold the places of contracts until the commit; what is in them is never read. */
  function insertBlank(): RowStatement {
    return kept("insert blank", () => {
      const constant = Object.entries(blankContract).map(([field, value]) => ({
        name: columnOf("contracts", field).name,
        value: sql.lit(value),
      }));
      return rowStatement(
        "contracts",
        kysely
          .insertInto(named("contracts"))
          .columns(["contract_id", ...constant.map(({ name }) => name)])
          .expression(
            sql`select id, ${sql.join(constant.map(({ value }) => value))} from unnest(${array("contractId", "text")}) as id`,
          )
          .onConflict((conflict) => conflict.doNothing())
          .returning("contract_id"),
      );
    });
  }

  function removeBlank(): RowStatement {
    const { name } = columnOf("contracts", "changedAt");
    return kept("remove blank", () =>
      rowStatement(
        "contracts",
        kysely
          .deleteFrom(named("contracts"))
          .where(columnOf("contracts", "contractId").name, "=", sql`any(${array("contractId", "text")})`)
          .where(sql.ref(name), "=", sql.lit(neverChanged)),
      ),
    );
  }

  function lookingForKeys(table: TableName, without: readonly string[]): Compilable {
    const key = tables[table].key.map((field) => columnOf(table, field));
    const isSame = key.map(({ name }) => sql`${sql.ref(`kept.${name}`)} = ${sql.ref(`given.${name}`)}`);
    const query = sql`
      select ${refs(names(table, without).map((name) => `kept.${name}`))}
      from ${unnest(key)} as given(${refs(key.map(({ name }) => name))})
      join ${sql.table(named(table))} as kept on ${sql.join(isSame, sql` and `)}`;
    return { compile: () => query.compile(kysely) };
  }

  /** Of each value so many rows, found by the index for each. */
  function lookingForSome(
    table: TableName,
    field: string,
    without: readonly string[],
    limit: number,
  ): Compilable {
    const { name, type } = columnOf(table, field);
    const columns = refs(names(table, without));
    const query = sql`
      select ${columns} from unnest(${array(field, type)}) as given(value) cross join lateral (
        select ${columns} from ${sql.table(named(table))} where ${sql.ref(name)} = given.value limit ${sql.lit(limit)}
      ) as found`;
    return { compile: () => query.compile(kysely) };
  }

  function looking(table: TableName, field: string, without: readonly string[]) {
    const { name, type } = columnOf(table, field);
    return kysely
      .selectFrom(named(table))
      .select(names(table, without))
      .where(name, "=", sql`any(${array(field, type)})`);
  }
}

/** The `changedAt` of a blank row, which is there only to be locked. A row that holds a contract has a time there. */
const neverChanged = "";

/** The fields of a blank row. */
const blankContract = {
  statusSince: "",
  statusKey: "",
  statusDerived: 0,
  currency: "",
  updatedAt: "",
  lastKey: "",
  transitionCount: 0,
  anomalyCount: 0,
  changedAt: neverChanged,
};

function cast(name: string, type: ColumnType): RawBuilder<unknown> {
  const given = sql.ref(`given.${name}`);
  return type === "boolean" ? sql`${given}::smallint` : sql`${given}`;
}

/** Those who write rows with the same value wait for each other, so that the later one sees the earlier one's. */
function lockShared(table: TableName) {
  const { name } = columnOf(table, tables[table].shared ?? "");
  return sql`pg_advisory_xact_lock(hashtextextended(${sql.ref(name)}, 0))`.as("locked");
}
