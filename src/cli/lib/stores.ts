import { existsSync } from "node:fs";
import { resolve } from "node:path";
import type { Command } from "commander";
import { systemClock } from "../../shared/clock.ts";
import { filePathAdvice, looksLikeAddress } from "../../shared/file-path.ts";
import { silentLogger } from "../../shared/logger.ts";
import { defaultPlaces as defaults } from "../../store/place-options.ts";
import type { Period } from "../../store/postgres/payloads.ts";
import { postgres } from "../../store/postgres/store.ts";
import { sqlite } from "../../store/sqlite/store.ts";
import type { Store } from "../../store/store.ts";
import { loadConfig } from "./config.ts";
import { Misuse } from "./explain.ts";
import { loadSecrets } from "./secrets.ts";

/** The options that name a store. */
export interface StoreFlags {
  readonly store?: string | undefined;
  readonly schema?: string | undefined;
  readonly prefix?: string | undefined;
  readonly partition?: Period | undefined;
  readonly config?: string | undefined;
  readonly secretsFile?: string | undefined;
}

export type StoreKind = "postgres" | "sqlite";

/** Adds the options that say where the tables are, and where secrets come from. */
export function withStoreOptions(command: Command): Command {
  return withPlaceOptions(
    command.option(
      "--store <address>",
      "sqlite:<file> or postgres://… (default: ESCROW_MIRROR_STORE, else escrow-mirror.json, else DATABASE_URL)",
    ),
  );
}

/** The same without `--store`, for a command with other options for its stores. */
export function withPlaceOptions(command: Command): Command {
  return command
    .option("--schema <name>", `Postgres: the schema of the tables (default: ${defaults.postgres.schema})`)
    .option(
      "--prefix <text>",
      `before each table's name (default: none on Postgres, ${defaults.sqlite.prefix} on SQLite)`,
    )
    .option("--config <file>", "settings as JSON (default: escrow-mirror.json, if it is there)")
    .option("--secrets-file <file>", "secrets as NAME=value lines; they win over the environment");
}

/** The place of the tables. */
export interface StorePlace {
  readonly address: string;
  readonly schema: string | undefined;
  readonly prefix: string | undefined;
  readonly partition?: Period | undefined;
}

const addressNames = ["ESCROW_MIRROR_STORE", "DATABASE_URL"] as const;

/**
 * The store that is named: by `--store`, else ESCROW_MIRROR_STORE, else the config file, else DATABASE_URL. Opens nothing.
 *
 * @throws Misuse if none is named, or if the address shows a password
 */
export function placeOf(flags: StoreFlags, option = "--store"): StorePlace {
  const place = findPlace(flags, option);
  if (place !== undefined) return place;
  throw new Misuse(
    `No store is named: give its address with ${option}, or set ESCROW_MIRROR_STORE in the environment or in --secrets-file, or "store" in escrow-mirror.json.`,
  );
}

/** The same, but `undefined` if no store is named. */
export function findPlace(flags: StoreFlags, option = "--store"): StorePlace | undefined {
  const config = loadConfig(flags.config);
  const secrets = loadSecrets(addressNames, flags.secretsFile);
  for (const [where, address] of [
    [option, flags.store],
    ["the config file", config.store],
  ] as const)
    if (address !== undefined && hasPassword(address)) throw visiblePassword(where);
  const address = flags.store ?? secrets.ESCROW_MIRROR_STORE ?? config.store ?? secrets.DATABASE_URL;
  if (address === undefined) return undefined;
  const { partition } = flags;
  const place = { address, schema: flags.schema ?? config.schema, prefix: flags.prefix ?? config.prefix };
  return { ...place, partition };
}

/** Accepts any text: no message may quote an address with a password, even if the address is wrong. */
export function hasPassword(address: string): boolean {
  return /:\/\/[^/?#]*:[^/?#]*@|[?&]password=/i.test(address);
}

function visiblePassword(where: string): Misuse {
  return new Misuse(
    `The address in ${where} has a password, which others can see there. Set the address as ESCROW_MIRROR_STORE in the environment or in --secrets-file, or leave the password out and set PGPASSWORD.`,
  );
}

/** @throws Misuse if the address is of neither kind */
export function kindOf(address: string): StoreKind {
  if (address.startsWith("sqlite:")) return "sqlite";
  if (/^postgres(ql)?:\/\//.test(address)) return "postgres";
  throw new Misuse("A store's address starts with sqlite: or postgres://");
}

/** The store at a place. It is not open yet. */
export function storeAt(place: StorePlace): Store {
  if (kindOf(place.address) === "postgres") return postgresAt(place);
  refusePostgresOnly(place);
  return sqlite(fileOf(place.address), { prefix: place.prefix });
}

/** The same, but it refuses a file that does not exist: a command that reads makes none. */
export function existingStoreAt(place: StorePlace): Store {
  refuseMissing(place.address);
  return storeAt(place);
}

/** Opens a store. `auto` makes or updates its tables; `check` refuses tables of another version. */
export async function opened<Opened extends Store>(
  store: Opened,
  migrate: "auto" | "check",
): Promise<Opened> {
  await store.open({ migrate, logger: silentLogger, clock: systemClock });
  return store;
}

/** Refuses options that SQLite would ignore: the user would believe that they worked. */
export function refusePostgresOnly(place: Pick<StoreFlags, "schema" | "partition">): void {
  for (const name of ["schema", "partition"] as const)
    if (place[name] !== undefined) throw new Misuse(`--${name} is for Postgres: leave it out on SQLite.`);
}

function postgresAt({ address, schema, prefix, partition }: StorePlace): Store {
  return postgres({ connectionString: address, schema, prefix, partition });
}

function fileOf(address: string): string {
  return address.slice("sqlite:".length);
}

/** SQLite would make the missing file, and an empty mirror would say that all is well. */
export function refuseMissing(address: string): void {
  if (kindOf(address) !== "sqlite") return;
  const file = fileOf(address);
  if (looksLikeAddress(file)) throw new Misuse(`--store: ${filePathAdvice}.`);
  if (existsSync(file)) return;
  throw new Error(
    `There is no file ${resolve(file)}. Name the file of your app's mirror. (escrow-mirror migrate makes a new one.)`,
  );
}
