import process from "node:process";
import { Command, Option } from "commander";
import { toIsoTime } from "../shared/clock.ts";
import { postgresDialect, sqliteDialect, type Dialect } from "../store/dialect.ts";
import { migrationSql } from "../store/migrate.ts";
import { payloadTables } from "../store/postgres-payloads.ts";
import { openStore, orExplain, withStoreOptions, type StoreFlags } from "./stores.ts";

interface Flags extends StoreFlags {
  readonly sql?: boolean;
  readonly dialect: "postgres" | "sqlite";
  readonly store?: string;
}

/** `escrow-mirror migrate`: makes the tables, or prints how. */
export function migrateCommand(): Command {
  const command = new Command("migrate")
    .description(
      'Bring the tables to this version, or print the SQL, for apps that run with migrate: "check".',
    )
    .option("--sql", "print the statements for an empty database, and run nothing")
    .addOption(
      new Option("--dialect <name>", "for --sql").choices(["postgres", "sqlite"]).default("postgres"),
    )
    .option("--store <address>", "sqlite:<file> or postgres://…")
    .addOption(
      new Option("--partition <period>", "Postgres: payloads in a partition for each").choices([
        "day",
        "month",
      ]),
    );
  return withStoreOptions(command).action((flags: Flags) =>
    orExplain(() => (flags.sql === true ? printSql(flags) : migrateStore(flags))),
  );
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
