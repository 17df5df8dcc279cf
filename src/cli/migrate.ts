import process from "node:process";
import { Command, Option } from "commander";
import { toIsoTime } from "../shared/clock.ts";
import { postgresDialect, sqliteDialect } from "../store/dialect.ts";
import { migrationSql } from "../store/migrate.ts";
import { payloadTables } from "../store/postgres-payloads.ts";
import {
  addressOf,
  kindOf,
  openStore,
  orExplain,
  refusePostgresOnly,
  withStoreOptions,
  type StoreFlags,
  type StoreKind,
} from "./stores.ts";

interface Flags extends StoreFlags {
  readonly sql?: boolean;
  readonly dialect?: StoreKind;
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
      new Option(
        "--dialect <name>",
        "for --sql (default: that of the store that is named, else postgres)",
      ).choices(["postgres", "sqlite"]),
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

async function printSql(flags: Flags): Promise<void> {
  const statements = sqlKind(flags) === "postgres" ? postgresSql(flags) : sqliteSql(flags);
  process.stdout.write(["begin", ...statements, "commit"].map((sql) => `${sql};\n`).join("\n"));
}

/** The database that would be migrated decides, so that one that is named is not answered with another's SQL. */
function sqlKind(flags: Flags): StoreKind {
  const { dialect, store } = flags;
  const address = dialect === undefined ? addressOf(store, flags) : store;
  const named = address === undefined ? undefined : kindOf(address);
  if (dialect !== undefined && named !== undefined && dialect !== named)
    throw new Error(
      `--dialect ${dialect} is not the kind of store that --store names, which is ${named}: leave one of them out.`,
    );
  return dialect ?? named ?? "postgres";
}

function postgresSql({ schema = "escrow_mirror", prefix = "", partition }: Flags): string[] {
  const place = { schema: `"${checked(schema)}".`, prefix: checked(prefix) };
  const statements = migrationSql(postgresDialect, place, toIsoTime(Date.now()));
  return partition === undefined ? statements : [...statements, ...payloadTables(place, partition)];
}

function sqliteSql(flags: Flags): string[] {
  refusePostgresOnly(flags);
  const place = { schema: "", prefix: checked(flags.prefix ?? "escrow_") };
  return migrationSql(sqliteDialect, place, toIsoTime(Date.now()));
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
