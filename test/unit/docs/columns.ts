/** The tables as the migrations make them, column by column, on both stores. */
import { postgresDialect, sqliteDialect, type Dialect } from "../../../src/store/sql/dialect.ts";
import { migrationSql } from "../../../src/store/sql/migrate.ts";
import { tables, type TableName } from "../../../src/store/tables.ts";

export interface DocColumn {
  readonly name: string;
  readonly sqlite: string;
  readonly postgres: string;
  readonly nullable: boolean;
}

/** By table, in the order of `store/tables.ts`; the columns in the order of the migration. */
export function columnsIn(): Record<string, DocColumn[]> {
  const sqlite = statementsBy(sqliteDialect);
  const postgres = statementsBy(postgresDialect);
  const names = Object.keys(tables) as TableName[];
  return Object.fromEntries(
    names.map((table) => [table, pair(linesOf(sqlite, table), linesOf(postgres, table))]),
  );
}

function pair(sqlite: readonly Line[], postgres: readonly Line[]): DocColumn[] {
  return sqlite.map(({ name, type, rest }) => {
    const other = postgres.find((line) => line.name === name);
    const nullable = !/not null|primary key/.test(rest);
    return { name, sqlite: type, postgres: other?.type ?? "none", nullable };
  });
}

interface Line {
  readonly name: string;
  readonly type: string;
  readonly rest: string;
}

function linesOf(statements: readonly string[], table: string): Line[] {
  const create = statements.find((sql) => sql.startsWith(`create table ${table} (`)) ?? "";
  return [...create.matchAll(/^ {2}(?!unique|primary)(\w+) (\w+)(.*?),?$/gm)].map(
    ([, name = "", type = "", rest = ""]) => ({ name, type, rest }),
  );
}

function statementsBy(dialect: Dialect): string[] {
  return migrationSql(dialect, { schema: null, prefix: "" }, "2026-01-01T00:00:00.000Z");
}
