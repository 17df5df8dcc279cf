import { sql, type Kysely, type RawBuilder } from "kysely";
import { columnOf, columnsOf, type Column } from "./codec.ts";
import { namesIn, type TablePlace } from "./dialect.ts";
import type { ArrayType } from "./postgres-array.ts";
import type { PayloadLayout } from "./postgres-payloads.ts";
import {
  keepOnce,
  keyNames,
  names,
  restNames,
  rowStatement,
  type AnyDatabase,
  type Compilable,
  type RowStatement,
} from "./statements.ts";
import { tables, type ColumnType, type TableName } from "./tables.ts";

export type ArrayStatements = ReturnType<typeof createArrayStatements>;

/** The statements that take a whole batch: one array for each column, `unnest` makes rows of them again. */
export function createArrayStatements(kysely: Kysely<AnyDatabase>, place: TablePlace, layout: PayloadLayout) {
  const kept = keepOnce();
  const named = namesIn(place);

  const deliveries = sql.table(named("deliveries"));
  const payloads = sql.table(named("deliveries").replace(/deliveries$/, "payloads"));

  const inserting = (table: TableName) =>
    kysely
      .insertInto(named(table))
      .columns(written(table).map(({ name }) => name))
      .expression(sql`select * from ${unnest(written(table))}`);

  return {
    insertBlank,
    removeBlank,

    insert: (table: TableName): RowStatement =>
      kept(`insert ${table}`, () => rowStatement(table, isApart(table) ? insertApart() : insertWhole(table))),

    upsert: (table: TableName): RowStatement =>
      kept(`upsert ${table}`, () => rowStatement(table, isApart(table) ? upsertApart() : upsertWhole(table))),

    lookup: (table: TableName, field: string, without: readonly string[]): RowStatement =>
      kept(`lookup ${table} ${field} ${without.join()}`, () =>
        rowStatement(table, looking(table, field, without)),
      ),

    claim: (table: TableName, field: string, without: readonly string[]): RowStatement =>
      kept(`claim ${table} ${field} ${without.join()}`, () =>
        rowStatement(table, looking(table, field, without).orderBy(columnOf(table, field).name).forUpdate()),
      ),

    updateEach: (table: TableName, field: string, set: readonly string[]): RowStatement =>
      kept(`update ${table} ${field} ${set.join()}`, () => {
        const columns = [field, ...set].map((each) => columnOf(table, each));
        const given = sql.join(columns.map(({ name }) => sql.ref(name)));
        const pairs = columns.slice(1).map(({ name, type }) => sql`${sql.ref(name)} = ${cast(name, type)}`);
        const key = columnOf(table, field).name;
        return rowStatement(table, {
          compile: () =>
            sql`update ${sql.table(named(table))} as kept set ${sql.join(pairs)} from ${unnest(columns)} as given(${given}) where ${sql.ref(`kept.${key}`)} = ${sql.ref(`given.${key}`)}`.compile(
              kysely,
            ),
        });
      }),
  };

  function insertWhole(table: TableName): Compilable {
    return inserting(table)
      .onConflict((conflict) => conflict.doNothing())
      .returning(identityOf(table).map(({ name }) => name));
  }

  function upsertWhole(table: TableName): Compilable {
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

  /** Whether a table's large columns are kept apart from it. */
  function isApart(table: TableName): boolean {
    return table === "deliveries" && layout.partitioned;
  }

  /** Deliveries without their payloads; the payloads of those that went in. */
  function insertApart(): Compilable {
    const identity = identityOf("deliveries").map(({ name }) => name);
    const fresh = sql`insert into ${deliveries} (${slim}) select ${slim} from given on conflict do nothing returning ${sql.join([...new Set([...identity, "content_key", "received_at", "id"])].map((name) => sql.ref(name)))}`;
    const payload = sql`insert into ${payloads} (received_at, content_key, headers, body) select distinct on (fresh.content_key) fresh.received_at, fresh.content_key, given.headers, given.body from fresh join given on given.id = fresh.id and given.content_key = fresh.content_key order by fresh.content_key, given.place ${replacePayload}`;
    return raw(
      sql`with ${givenDeliveries}, fresh as (${fresh}), payload as (${payload}) select ${sql.join(identity.map((name) => sql.ref(name)))} from fresh`,
    );
  }

  function upsertApart(): Compilable {
    const payload = sql`insert into ${payloads} (received_at, content_key, headers, body) select received_at, content_key, headers, body from given where headers is not null or body is not null ${replacePayload}`;
    const rest = restNames("deliveries").filter((name) => !heavy.has(name));
    const pairs = rest.map((name) => sql`${sql.ref(name)} = ${sql.ref(`excluded.${name}`)}`);
    return raw(
      sql`with ${givenDeliveries}, payload as (${payload}) insert into ${deliveries} (${slim}) select ${slim} from given on conflict (id) do update set ${sql.join(pairs)}, headers = null, body = null`,
    );
  }

  function raw(query: RawBuilder<unknown>): Compilable {
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

  function looking(table: TableName, field: string, without: readonly string[]) {
    const { name, type } = columnOf(table, field);
    return kysely
      .selectFrom(named(table))
      .select(names(table, without))
      .where(name, "=", sql`any(${array(field, type)})`);
  }
}

/** What is kept apart from `deliveries` where the payloads are partitioned. */
const heavy: ReadonlySet<string> = new Set(["headers", "body"]);
const slim = sql.join(
  written("deliveries")
    .filter(({ name }) => !heavy.has(name))
    .map(({ name }) => sql.ref(name)),
);
const givenDeliveries = sql`given as (select * from ${unnest(written("deliveries"))} with ordinality as given(${sql.join([...written("deliveries").map(({ name }) => sql.ref(name)), sql.ref("place")])}))`;
/** What is there of a delivery that was removed since is of no more use. */
const replacePayload = sql`on conflict (received_at, content_key) do update set headers = excluded.headers, body = excluded.body`;

/** When a contract's row was last changed that only holds its place until the commit. */
const neverChanged = "";

/** What such a row must have. */
const blankContract = {
  statusKey: "",
  statusDerived: 0,
  currency: "",
  lastKey: "",
  transitionCount: 0,
  anomalyCount: 0,
  changedAt: neverChanged,
};

/** What tells the rows of one batch apart: an insert says by it which went in. */
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

function written(table: TableName): readonly Column[] {
  return columnsOf(table).filter(({ type }) => type !== "serial");
}

function unnest(columns: readonly Column[]): RawBuilder<unknown> {
  return sql`unnest(${sql.join(columns.map(({ field, type }) => array(field, type)))})`;
}

/** The field's name as the value: it says what to bind. */
function array(field: string, type: ColumnType): RawBuilder<unknown> {
  return sql`${field}::${sql.raw(arrayTypeOf(type))}[]`;
}

function cast(name: string, type: ColumnType): RawBuilder<unknown> {
  const given = sql.ref(`given.${name}`);
  return type === "boolean" ? sql`${given}::smallint` : sql`${given}`;
}

/** Those who write rows with the same value wait for each other, so that the later one sees the earlier one's. */
function lockShared(table: TableName) {
  const { name } = columnOf(table, tables[table].shared ?? "");
  return sql`pg_advisory_xact_lock(hashtextextended(${sql.ref(name)}, 0))`.as("locked");
}
