/** Takes the write lock, runs the first half of the migrations, says so, and waits to be killed. */
import Database from "better-sqlite3";
import { sqliteDialect } from "../../../src/store/sql/dialect.ts";
import { migrationSql } from "../../../src/store/sql/migrate.ts";

const [file = "", prefix = "escrow_"] = process.argv.slice(2);
const database = new Database(file);
database.pragma("journal_mode = wal");
database.exec("begin immediate");
const statements = migrationSql(sqliteDialect, { schema: null, prefix }, "2026-01-01T00:00:00Z");
for (const statement of statements.slice(0, statements.length / 2)) database.exec(statement);
console.log("half");
setInterval(() => database.inTransaction, 1000);
