/** Takes the migrations' lock, runs the first half of them, says so, and waits to be killed. */
import { Client } from "pg";
import { postgresDialect } from "../../../src/store/sql/dialect.ts";
import { migrationSql } from "../../../src/store/sql/migrate.ts";

const [connectionString = "", schema = ""] = process.argv.slice(2);
const client = new Client({ connectionString });
await client.connect();
await client.query("begin");
await client.query("select pg_advisory_xact_lock(hashtextextended($1, 0))", [`escrow-mirror "${schema}".`]);
const statements = migrationSql(postgresDialect, { schema, prefix: "" }, "2026-01-01T00:00:00Z");
for (const statement of statements.slice(0, statements.length / 2)) await client.query(statement);
console.log("half");
setInterval(() => undefined, 1000);
