/** What a person would write who knows the rows already: prepared statements on the same tables. */
import Database from "better-sqlite3";
import { columnsOf, encodeValue } from "../../src/store/sql/codec.ts";
import { sqliteDialect } from "../../src/store/sql/dialect.ts";
import { initial } from "../../src/store/sql/migrations/0001-initial.ts";
import { tables } from "../../src/store/tables.ts";
import type { RecordedWrite } from "./recording-store.ts";

export function openByHand(path: string) {
  const database = openTables(path);
  const statements = new Map<string, Database.Statement>();
  const prepare = ({ how, table }: RecordedWrite): Database.Statement => {
    const key = how + table;
    const known = statements.get(key) ?? database.prepare(toSql(how, table));
    statements.set(key, known);
    return known;
  };
  const writeCommit = database.transaction((writes: readonly RecordedWrite[]) => {
    for (const write of writes) prepare(write).run(...toValues(write));
  });
  return {
    write: (commits: readonly RecordedWrite[][]) => {
      for (const writes of commits) writeCommit.immediate(writes);
    },
    close: () => database.close(),
  };
}

export function openTables(path: string): Database.Database {
  const database = new Database(path);
  database.pragma("journal_mode = wal");
  database.pragma("synchronous = full");
  database.pragma("cache_size = -32768");
  database.pragma("wal_autocheckpoint = 4096");
  for (const statement of initial.statements(sqliteDialect.types, "", "escrow_")) database.exec(statement);
  return database;
}

function toSql(how: RecordedWrite["how"], table: RecordedWrite["table"]): string {
  const names = writtenColumns(table).map(({ name }) => name);
  const insert = `insert into escrow_${table} (${names.join()}) values (${names.map(() => "?").join()})`;
  if (how === "insert") return `${insert} on conflict do nothing`;
  const key = tables[table].key.map((field) => columnName(table, field));
  const set = names.filter((name) => !key.includes(name)).map((name) => `${name} = excluded.${name}`);
  return `${insert} on conflict (${key.join()}) do update set ${set.join()}`;
}

export function toValues({ table, row }: RecordedWrite): unknown[] {
  const values = row as Record<string, unknown>;
  return writtenColumns(table).map(({ field, type }) => encodeValue(type, values[field]));
}

export function writtenColumns(table: RecordedWrite["table"]) {
  return columnsOf(table).filter(({ type }) => type !== "serial");
}

export function columnName(table: RecordedWrite["table"], field: string): string {
  return columnsOf(table).find((column) => column.field === field)?.name ?? field;
}
