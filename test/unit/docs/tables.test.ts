import Database from "better-sqlite3";
import { expect, it } from "vitest";
import { sqliteDialect } from "../../../src/store/sql/dialect.ts";
import { columnsOf } from "../../../src/store/sql/codec.ts";
import { migrationSql } from "../../../src/store/sql/migrate.ts";
import { tables, type TableName } from "../../../src/store/tables.ts";
import { columnsIn, type DocColumn } from "./columns.ts";
import { readText } from "./pages.ts";

const page = readText("docs/tables.md");
const names = Object.keys(tables) as TableName[];

function documented(table: string): (DocColumn & { meaning: string; rely: string })[] {
  const [, section = ""] = new RegExp(`^### \`${table}\`$([^]*?)(?=^### |$(?![^]))`, "m").exec(page) ?? [];
  return [...section.matchAll(/^\| `(\w+)`(.*)\|$/gm)].map(([, name = "", cells = ""]) => {
    const [sqlite = "", postgres = "", isNull = "", meaning = "", rely = ""] = cells
      .split("|")
      .slice(1)
      .map((cell) => cell.trim());
    return { name, sqlite, postgres, nullable: isNull === "yes", meaning, rely };
  });
}

it("the guide has every table, and no other", () => {
  const headings = [...page.matchAll(/^### `(\w+)`$/gm)].map(([, name = ""]) => name);
  expect(headings.toSorted()).toEqual([...names].sort());
});

it.each(names)("the guide has every column of %s, with its type on both stores", (table) => {
  const columns = documented(table).map(({ meaning: _, rely: __, ...column }) => column);
  expect(columns).toEqual(columnsIn()[table]);
  expect(columns.map(({ name }) => name).toSorted()).toEqual(
    columnsOf(table)
      .map(({ name }) => name)
      .toSorted(),
  );
});

it.each(names)(
  "the guide says of every column of %s what it means and whether it may be relied on",
  (table) => {
    for (const { name, meaning, rely } of documented(table)) {
      expect(meaning, name).not.toBe("");
      expect(["yes", "no"], name).toContain(rely);
    }
  },
);

it("the queries of the guide run on SQLite", () => {
  const database = new Database(":memory:");
  for (const sql of migrationSql(sqliteDialect, { schema: null, prefix: "escrow_" }, "")) database.exec(sql);
  database.exec("create table orders (id text primary key, total integer)");
  const queries = [...page.matchAll(/^```sql\n([^]*?)^```$/gm)].map(([, sql = ""]) => sql);
  const ours = queries.filter((sql) => sql.includes("escrow_contracts"));
  expect(ours).toHaveLength(2);
  for (const sql of ours) expect(database.prepare(sql).all()).toEqual([]);
});
