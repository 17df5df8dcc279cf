import process from "node:process";
import { Option, type Command } from "commander";
import { toIsoTime } from "../shared/clock.ts";
import { parseConfiguration, strictOptions } from "../shared/configuration.ts";
import { postgresDialect, sqliteDialect } from "../store/sql/dialect.ts";
import { migrationSql } from "../store/sql/migrate.ts";
import { postgresPlace, sqlitePlace } from "../store/place-options.ts";
import { partitioning, periods } from "../store/postgres/payloads.ts";
import { storeCommand } from "./lib/command.ts";
import { Misuse, orExplain } from "./lib/explain.ts";
import { printJson } from "./lib/print.ts";
import {
  findPlace,
  kindOf,
  opened,
  placeOf,
  refusePostgresOnly,
  storeAt,
  type StoreFlags,
  type StoreKind,
} from "./lib/stores.ts";

interface Flags extends StoreFlags {
  readonly sql?: boolean;
  readonly dialect?: StoreKind;
  readonly json?: boolean;
}

/** `escrow-mirror migrate`: makes or updates the tables, or prints the SQL. */
export function migrateCommand(): Command {
  return storeCommand({
    name: "migrate",
    description:
      'Bring the tables to this version, or print the SQL, for apps that run with migrate: "check".',
    examples: [
      ["migrate --store sqlite:escrow.db", "make or update the tables"],
      ["migrate --sql > escrow-mirror.sql", "the statements for an empty database"],
    ],
  })
    .option("--sql", "print the statements for an empty database, and run nothing")
    .addOption(
      new Option(
        "--dialect <name>",
        "for --sql (default: the dialect of the named store, else postgres)",
      ).choices(["postgres", "sqlite"]),
    )
    .addOption(
      new Option("--partition <period>", "Postgres: partition the payloads by this period").choices(periods),
    )
    .action((flags: Flags) => orExplain(() => (flags.sql === true ? printSql(flags) : migrateStore(flags))));
}

async function printSql(flags: Flags): Promise<void> {
  const statements = sqlKind(flags) === "postgres" ? postgresSql(flags) : sqliteSql(flags);
  const lines = [...beforeTables(flags), "begin", ...statements, "commit"];
  if (flags.json === true) return printJson({ statements: lines });
  process.stdout.write(lines.map((sql) => `${sql};\n`).join("\n"));
}

/** SQLite accepts these only before the first table and outside a transaction. */
function beforeTables(flags: Flags): string[] {
  return sqlKind(flags) === "sqlite" ? ["pragma auto_vacuum = incremental"] : [];
}

/** The kind of the named store decides, so that its SQL is printed and not that of another kind. */
function sqlKind(flags: Flags): StoreKind {
  const { dialect, store } = flags;
  const address = dialect === undefined ? findPlace(flags)?.address : store;
  const named = address === undefined ? undefined : kindOf(address);
  if (dialect !== undefined && named !== undefined && dialect !== named)
    throw new Misuse(
      `--dialect ${dialect} does not fit --store, which names ${named}: leave one of the two out.`,
    );
  return dialect ?? named ?? "postgres";
}

function postgresSql({ schema, prefix, partition }: Flags): string[] {
  const place = parseConfiguration("postgres", strictOptions(postgresPlace), { schema, prefix });
  const statements = migrationSql(postgresDialect, place, toIsoTime(Date.now()));
  return partition === undefined ? statements : [...statements, ...partitioning(place, partition)];
}

function sqliteSql(flags: Flags): string[] {
  refusePostgresOnly(flags);
  const { prefix } = parseConfiguration("sqlite", strictOptions(sqlitePlace), { prefix: flags.prefix });
  return migrationSql(sqliteDialect, { schema: null, prefix }, toIsoTime(Date.now()));
}

async function migrateStore(flags: Flags): Promise<void> {
  const store = await opened(storeAt(placeOf(flags)), "auto");
  await store.close();
  if (flags.json === true) return printJson({ store: store.description, ready: true });
  process.stdout.write(`${store.description} is ready.\n`);
}
