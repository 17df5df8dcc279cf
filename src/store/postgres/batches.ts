import { EscrowMirrorError } from "../../shared/errors.ts";
import type { Batches } from "../sql/batches.ts";
import { columnOf, decodeRows, decodeValue, encodeRow, encodeValue, type SqlValue } from "../sql/codec.ts";
import { toArray } from "./array.ts";
import { arrayTypeOf, identityOf } from "./columns.ts";
import type { ArrayStatements } from "./statements.ts";
import type { ArraySession } from "../sql/session.ts";
import type { RowStatement } from "../sql/statements.ts";
import type { FieldOf, NewRow } from "../store.ts";
import { tables, type TableName, type Tables } from "../tables.ts";
import { proveWritten } from "../unwritable.ts";

/**
 * Batches for a database of many writers, each batch one statement. Rows and locks are taken in one order, so that two
 * processes rarely meet crosswise.
 */
export function createArrayBatches(session: ArraySession, statements: ArrayStatements): Batches {
  /** Contracts that were locked before they had a row, and have not been written since. */
  let blank = new Set<string>();

  const run = (statement: RowStatement, rows: readonly object[]): Promise<unknown[][]> =>
    session.all(statement.sql, toArrays(statement, rows));

  const write = (table: TableName, statement: RowStatement, rows: readonly object[]): void =>
    session.send(statement.sql, toArrays(statement, rows), (written) =>
      proveWritten(table, rows.length, written),
    );

  const batches: Batches = {
    async lookup<Name extends TableName>(
      table: Name,
      field: FieldOf<Name>,
      values: readonly (string | number)[],
      without: readonly FieldOf<Name>[] = [],
      limitEach?: number,
    ) {
      if (values.length === 0) return [];
      const { sql } = statements.lookup(table, field, without, limitEach);
      return decodeRows(table, await session.all(sql, [toValues(table, field, values)]), without);
    },

    async lookupKeys<Name extends TableName>(
      table: Name,
      rows: readonly Partial<Tables[Name]>[],
      without: readonly FieldOf<Name>[] = [],
    ) {
      if (rows.length === 0) return [];
      return decodeRows(table, await run(statements.lookupKeys(table, without), rows), without);
    },

    async lock<Name extends TableName>(
      table: Name,
      field: FieldOf<Name>,
      values: readonly (string | number)[],
      without: readonly FieldOf<Name>[] = [],
    ) {
      if (values.length === 0) return [];
      const { sql } = statements.lock(table, field, without);
      return decodeRows(table, await session.all(sql, [toValues(table, field, values)]), without);
    },

    async lockContracts(contractIds) {
      const ids = [...new Set(contractIds)].sort();
      if (ids.length === 0) return [];
      const { sql } = statements.insertBlank();
      const { type } = columnOf("contracts", "contractId");
      const [made, rows] = await Promise.all([
        session.all(sql, [toValues("contracts", "contractId", ids)]),
        batches.lock("contracts", "contractId", ids),
      ]);
      for (const [id] of made) blank.add(String(decodeValue(type, id)));
      return rows.filter(({ contractId }) => !blank.has(contractId));
    },

    async insert(table, rows) {
      if (rows.length === 0) return [];
      return toWentIn(table, rows, await run(statements.insert(table), rows));
    },

    async upsert(table, rows) {
      if (rows.length === 0) return;
      write(table, statements.upsert(table), toSorted(table, rows));
      if (table === "contracts") for (const row of rows) blank.delete(String(valueOf(row, "contractId")));
    },

    async updateEach<Name extends TableName>(
      table: Name,
      field: FieldOf<Name>,
      rows: readonly Partial<Tables[Name]>[],
    ) {
      const [first] = rows;
      if (first === undefined) return;
      const set = Object.keys(first).filter((each) => each !== field);
      write(table, statements.updateEach(table, field, set), rows);
    },

    mark() {
      const before = new Set(blank);
      return () => (blank = before);
    },

    /** A contract of which nothing came is none. */
    async finish() {
      if (blank.size === 0) return;
      const { size } = blank;
      const values = [toValues("contracts", "contractId", [...blank])];
      session.send(statements.removeBlank().sql, values, (gone) => proveWritten("contracts", size, gone));
    },
  };
  return batches;
}

function toValues(table: TableName, field: string, values: readonly (string | number)[]): Buffer {
  const { type } = columnOf(table, field);
  return toArray(
    arrayTypeOf(type),
    [...new Set(values)].map((value) => encodeValue(type, value)),
  );
}

/** The rows turned: one array for each column. */
function toArrays({ columns }: RowStatement, rows: readonly object[]): SqlValue[] {
  const encoded = rows.map((row) => encodeRow(columns, row));
  return columns.map(({ type }, index) =>
    toArray(
      arrayTypeOf(type),
      encoded.map((values) => values[index] ?? null),
    ),
  );
}

/**
 * Which of the rows went in, from what the insert says of itself. Of equal rows only the first can have; where the key
 * has a null in it, every one has.
 */
function toWentIn<Name extends TableName>(
  table: Name,
  rows: readonly NewRow<Name>[],
  returned: readonly unknown[][],
): boolean[] {
  const columns = identityOf(table);
  const counts = new Map<string, number>();
  for (const values of returned) {
    const identity = JSON.stringify(columns.map(({ type }, index) => decodeValue(type, values[index])));
    counts.set(identity, (counts.get(identity) ?? 0) + 1);
  }
  const wentIn = rows.map((row) => {
    const identity = JSON.stringify(columns.map(({ field }) => valueOf(row, field)));
    const left = counts.get(identity) ?? 0;
    counts.set(identity, left - 1);
    return left > 0;
  });
  // Never "seen before" of what went in only now: a driver that changes values must not pass for a duplicate.
  if ([...counts.values()].some((left) => left > 0))
    throw new EscrowMirrorError(
      "internal-error",
      `${table}: the database returned other values than were written`,
    );
  return wentIn;
}

/** In the order of their keys, of several with one key the last. Postgres takes no key twice in one statement. */
function toSorted<Name extends TableName>(table: Name, rows: readonly NewRow<Name>[]): NewRow<Name>[] {
  const { key, shared } = tables[table];
  const fields = shared === undefined ? key : [shared, ...key];
  const byKey = new Map<string, NewRow<Name>>();
  for (const [index, row] of rows.entries()) {
    const isKey = key.every((field) => valueOf(row, field) !== null);
    byKey.set(isKey ? JSON.stringify(fields.map((field) => valueOf(row, field))) : `~${index}`, row);
  }
  return [...byKey].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row);
}

function valueOf(row: object, field: string): unknown {
  return (row as Record<string, unknown>)[field] ?? null;
}
