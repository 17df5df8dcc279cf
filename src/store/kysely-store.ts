import type { Kysely } from "kysely";
import { columnOf, decodeRow, decodeValue, encodeValue, type Column, type SqlValue } from "./codec.ts";
import type { MirrorDatabase } from "./database.ts";
import type { Dialect, TablePlace } from "./dialect.ts";
import { migrate } from "./migrate.ts";
import type { Engine, Session } from "./session.ts";
import { createStatements, type AnyDatabase, type Statements } from "./statements.ts";
import type { Condition, FieldOf, NewRow, OpenOptions, Query, Store, StoreTransaction } from "./store.ts";
import type { TableName, Tables } from "./tables.ts";

export interface KyselyStoreParts {
  readonly engine: Engine;
  readonly dialect: Dialect;
  readonly place: TablePlace;
  /** Compiles our statements, and serves `mirror.db` through the prefix plugin. */
  readonly kysely: Kysely<AnyDatabase>;
  readonly db: Kysely<MirrorDatabase>;
}

/** The one SQL implementation of the store. */
export function createKyselyStore({ engine, dialect, place, kysely, db }: KyselyStoreParts): Store {
  const statements = createStatements(kysely, place.schema + place.prefix);
  return {
    description: engine.description,
    db,
    open: (options: OpenOptions) => migrate(engine, dialect, place, options),
    transaction: (work) => engine.transaction((session) => work(createTransaction(session, statements))),
    read: (work) => engine.read((session) => work(createTransaction(session, statements))),
    close: () => engine.close(),
  };
}

function createTransaction(session: Session, statements: Statements): StoreTransaction {
  const tx: StoreTransaction = {
    async find<Name extends TableName>(table: Name, query: Query<Tables[Name]> = {}) {
      const { sql, values } = statements.find(table, query);
      return decodeAll(table, await session.all(sql, values), query.without);
    },

    async countBy<Name extends TableName>(
      table: Name,
      field: FieldOf<Name>,
      where: readonly Condition<Tables[Name]>[] = [],
    ) {
      const { sql, values } = statements.countBy(table, field, where);
      const rows = await session.all(sql, values);
      const { type } = columnOf(table, field);
      return new Map(
        rows.map(([value, count]) => [decodeValue(type, value) as string | null, Number(count)]),
      );
    },

    async lookup<Name extends TableName>(
      table: Name,
      field: FieldOf<Name>,
      values: readonly string[],
      without: readonly FieldOf<Name>[] = [],
    ) {
      if (values.length === 0) return [];
      const { sql } = statements.lookup(table, field, without);
      const { type } = columnOf(table, field);
      const runs = values.map((value) => [encodeValue(type, value)]);
      return decodeAll(table, await session.allEach(sql, runs), without);
    },

    // One writer at a time on SQLite: the transaction itself is the lock.
    claimContracts: (contractIds) => tx.lookup("contracts", "contractId", contractIds),

    async insert(table, rows) {
      if (rows.length === 0) return [];
      const { sql, columns } = statements.insert(table);
      const changed = await session.runEach(sql, encodeAll(columns, rows));
      return changed.map((count) => count > 0);
    },

    async upsert(table, rows) {
      if (rows.length === 0) return;
      const { sql, columns } = statements.upsert(table);
      await session.runEach(sql, encodeAll(columns, rows));
    },

    async update<Name extends TableName>(
      table: Name,
      field: FieldOf<Name>,
      value: string,
      set: Partial<Tables[Name]>,
    ) {
      const { sql, columns } = statements.update(table, field, Object.keys(set));
      await session.run(sql, encodeRow(columns, { ...set, [field]: value }));
    },

    async remove(table, where) {
      const { sql, values } = statements.remove(table, where);
      await session.run(sql, values);
    },

    async savepoint(work) {
      await session.run("savepoint escrow_mirror", []);
      try {
        const result = await work();
        await session.run("release savepoint escrow_mirror", []);
        return result;
      } catch (error) {
        await session.run("rollback to savepoint escrow_mirror", []);
        await session.run("release savepoint escrow_mirror", []);
        throw error;
      }
    },
  };
  return tx;
}

function decodeAll<Name extends TableName>(
  table: Name,
  rows: readonly unknown[][],
  without: readonly string[] = [],
): Tables[Name][] {
  return rows.map((values) => decodeRow(table, values, without));
}

function encodeAll<Name extends TableName>(
  columns: readonly Column[],
  rows: readonly NewRow<Name>[],
): SqlValue[][] {
  return rows.map((row) => encodeRow(columns, row));
}

function encodeRow(columns: readonly Column[], row: object): SqlValue[] {
  return columns.map(({ field, type }) => encodeValue(type, (row as Record<string, unknown>)[field]));
}
