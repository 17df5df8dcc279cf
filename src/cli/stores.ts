import type { Command } from "commander";
import { systemClock } from "../shared/clock.ts";
import { silentLogger } from "../shared/logger.ts";
import { defaultPlaces as defaults } from "../store/place-options.ts";
import type { Period } from "../store/postgres/payloads.ts";
import { postgres, type PostgresStore } from "../store/postgres/store.ts";
import { sqlite } from "../store/sqlite/store.ts";
import type { Store } from "../store/store.ts";
import { loadSecrets } from "./secrets.ts";

export interface StoreFlags {
  readonly schema?: string | undefined;
  readonly prefix?: string | undefined;
  readonly partition?: Period | undefined;
  readonly secretsFile?: string | undefined;
}

export type StoreKind = "postgres" | "sqlite";

const storeHelp = `
A Postgres address may hold a password, which others on this machine see on a command line. Leave
the option out and set DATABASE_URL in the environment or in --secrets-file, or leave only the
password out and set PGPASSWORD.`;

/** The options that say where in a database the tables are, and the help that goes with an address. */
export function withStoreOptions(command: Command, help = ""): Command {
  return command
    .option("--schema <name>", `Postgres: the schema of the tables (default: ${defaults.postgres.schema})`)
    .option(
      "--prefix <text>",
      `before each table's name (default: none on Postgres, ${defaults.sqlite.prefix} on SQLite)`,
    )
    .option("--secrets-file <file>", "secrets as NAME=value lines")
    .addHelpText("after", storeHelp + help);
}

interface Opening {
  /** The option that names the address, for the message where nothing does. */
  readonly option?: "--store" | "--to";
  readonly migrate?: "auto" | "check";
}

/**
 * Opens the store at an address, its tables made ready, or with `check` as they are. Messages never hold the address's
 * password.
 */
export async function openStore(
  address: string | undefined,
  flags: StoreFlags,
  { option = "--store", migrate = "auto" }: Opening = {},
): Promise<Store> {
  return opened(storeAt(namedAddress(address, flags, option), flags), migrate);
}

/** The same for what only Postgres can, as it is: another kind is refused before anything is opened or made. */
export async function openPostgres(
  address: string | undefined,
  flags: StoreFlags,
  refusal: string,
): Promise<PostgresStore> {
  const named = namedAddress(address, flags, "--store");
  if (kindOf(named) !== "postgres")
    throw new Error(`A store on SQLite ${refusal}: only Postgres can as yet.`);
  return opened(postgresAt(named, flags), "check");
}

async function opened<Opened extends Store>(store: Opened, migrate: "auto" | "check"): Promise<Opened> {
  await store.open({ migrate, logger: silentLogger, clock: systemClock });
  return store;
}

function namedAddress(address: string | undefined, flags: StoreFlags, option: string): string {
  const named = addressOf(address, flags);
  if (named !== undefined) return named;
  throw new Error(
    `No database is named: give its address with ${option}, or set DATABASE_URL in the environment or in --secrets-file.`,
  );
}

/** The option's value, else `DATABASE_URL`. */
export function addressOf(address: string | undefined, flags: StoreFlags): string | undefined {
  return address ?? loadSecrets(["DATABASE_URL"], flags.secretsFile).DATABASE_URL;
}

/** Throws where the address is of neither kind. */
export function kindOf(address: string): StoreKind {
  if (address.startsWith("sqlite:")) return "sqlite";
  if (/^postgres(ql)?:\/\//.test(address)) return "postgres";
  throw new Error("A database's address starts with sqlite: or postgres://");
}

/** An option that SQLite would pass over is refused: "is ready" would say that it was heard. */
export function refusePostgresOnly(flags: StoreFlags): void {
  for (const name of ["schema", "partition"] as const)
    if (flags[name] !== undefined) throw new Error(`--${name} is for Postgres: leave it out on SQLite.`);
}

function storeAt(address: string, flags: StoreFlags): Store {
  if (kindOf(address) === "postgres") return postgresAt(address, flags);
  refusePostgresOnly(flags);
  return sqlite(address.slice("sqlite:".length), { prefix: flags.prefix });
}

function postgresAt(connectionString: string, { schema, prefix, partition }: StoreFlags): PostgresStore {
  return postgres({ connectionString, schema, prefix, partition });
}
