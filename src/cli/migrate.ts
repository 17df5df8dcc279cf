import process from "node:process";
import { Command, Option } from "commander";
import { toIsoTime } from "../shared/clock.ts";
import { postgresDialect, sqliteDialect, type Dialect } from "../store/dialect.ts";
import { migrationSql } from "../store/migrate.ts";
import { payloadTables, type Period } from "../store/postgres-payloads.ts";
import { openStore, orExplain, storeHelp } from "./stores.ts";

interface Flags {
  sql?: boolean;
  dialect: "postgres" | "sqlite";
  schema?: string;
  prefix?: string;
  store?: string;
  secretsFile?: string;
  partition?: Period;
}

/** `escrow-mirror migrate`: makes the tables, or prints how. */
export function migrateCommand(): Command {
  return new Command("migrate")
    .description(
      'Bring the tables to this version, or print the SQL, for apps that run with migrate: "check".',
    )
    .option("--sql", "print the statements for an empty database, and run nothing")
    .addOption(
      new Option("--dialect <name>", "for --sql").choices(["postgres", "sqlite"]).default("postgres"),
    )
    .option("--store <address>", "sqlite:<file> or postgres://…")
    .option("--schema <name>", "Postgres: the schema of the tables (default: escrow_mirror)")
    .option("--prefix <text>", "before each table's name (default: none on Postgres, escrow_ on SQLite)")
    .addOption(
      new Option("--partition <period>", "Postgres: payloads in a partition for each").choices([
        "day",
        "month",
      ]),
    )
    .option("--secrets-file <file>", "secrets as NAME=value lines")
    .addHelpText("after", storeHelp)
    .action((flags: Flags) => orExplain(() => (flags.sql === true ? printSql(flags) : migrateStore(flags))));
}

async function printSql({ dialect, schema = "escrow_mirror", prefix, partition }: Flags): Promise<void> {
  const [kind, place]: [Dialect, { schema: string; prefix: string }] =
    dialect === "postgres"
      ? [postgresDialect, { schema: `"${checked(schema)}".`, prefix: checked(prefix ?? "") }]
      : [sqliteDialect, { schema: "", prefix: checked(prefix ?? "escrow_") }];
  const statements = migrationSql(kind, place, toIsoTime(Date.now()));
  if (partition !== undefined && dialect === "postgres") statements.push(...payloadTables(place, partition));
  process.stdout.write(["begin", ...statements, "commit"].map((sql) => `${sql};\n`).join("\n"));
}

async function migrateStore(flags: Flags): Promise<void> {
  const store = await openStore(flags.store, flags);
  process.stdout.write(`${store.description} is ready.\n`);
  await store.close();
}

/** It becomes part of SQL that someone will run. */
function checked(name: string): string {
  if (/^[A-Za-z0-9_]{0,63}$/.test(name)) return name;
  throw new Error(`${JSON.stringify(name)} can't stand in a table's name: letters, digits and _ only.`);
}
