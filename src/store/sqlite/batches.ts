import type { Batches } from "../sql/batches.ts";
import { decodeRows, encodeRow, type Column, type SqlValue } from "../sql/codec.ts";
import type { RowSession } from "../sql/session.ts";
import type { FieldOf, NewRow } from "../store.ts";
import type { TableName, Tables } from "../tables.ts";
import { proveWritten } from "../unwritable.ts";
import type { RowStatements } from "./statements.ts";

/**
 * Batches where a statement costs no round trip: one prepared statement, run row by row. The transaction itself keeps
 * every other writer out, so that nothing is left to lock.
 */
export function createRowBatches(session: RowSession, statements: RowStatements): Batches {
  const write = async (table: TableName, sql: string, runs: readonly (readonly SqlValue[])[]) => {
    const written = await session.runEach(sql, runs);
    proveWritten(table, runs.length, written.filter((rows) => rows > 0).length);
  };

  const batches: Batches = {
    async lookup<Name extends TableName>(
      table: Name,
      field: FieldOf<Name>,
      values: readonly (string | number)[],
      without: readonly FieldOf<Name>[] = [],
      limitEach?: number,
    ) {
      if (values.length === 0) return [];
      const { sql, columns } = statements.lookup(table, field, without, limitEach);
      const runs = values.map((value) => encodeRow(columns, { [field]: value }));
      return decodeRows(table, await session.allEach(sql, runs), without);
    },

    async lookupKeys<Name extends TableName>(
      table: Name,
      rows: readonly Partial<Tables[Name]>[],
      without: readonly FieldOf<Name>[] = [],
    ) {
      if (rows.length === 0) return [];
      const { sql, columns } = statements.lookupKeys(table, without);
      const runs = rows.map((row) => encodeRow(columns, row));
      return decodeRows(table, await session.allEach(sql, runs), without);
    },

    lock: (table, field, values, without) => batches.lookup(table, field, values, without),

    lockContracts: (contractIds) => batches.lookup("contracts", "contractId", contractIds),

    async insert(table, rows) {
      if (rows.length === 0) return [];
      const { sql, columns } = statements.insert(table);
      const changed = await session.runEach(sql, encodeAll(columns, rows));
      return changed.map((count) => count > 0);
    },

    async upsert(table, rows) {
      if (rows.length === 0) return;
      const { sql, columns } = statements.upsert(table);
      await write(table, sql, encodeAll(columns, rows));
    },

    async updateEach<Name extends TableName>(
      table: Name,
      field: FieldOf<Name>,
      rows: readonly Partial<Tables[Name]>[],
    ) {
      const [first] = rows;
      if (first === undefined) return;
      const set = Object.keys(first).filter((each) => each !== field);
      const { sql, columns } = statements.update(table, field, set);
      const runs = rows.map((row) => encodeRow(columns, row));
      await write(table, sql, runs);
    },

    mark: () => () => {},
    finish: async () => {},
  };
  return batches;
}

function encodeAll<Name extends TableName>(
  columns: readonly Column[],
  rows: readonly NewRow<Name>[],
): SqlValue[][] {
  return rows.map((row) => encodeRow(columns, row));
}
