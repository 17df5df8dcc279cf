import { z } from "zod";
import { parseConfiguration, strictOptions } from "../../shared/configuration.ts";
import { postgresPlace } from "../place-options.ts";
import { periods, type Period } from "./payloads.ts";
import type { HostKysely, PgPool } from "./pool.ts";

/** Options of `postgres()`. */
export interface PostgresOptions {
  /** The schema that the tables are in; made when it is missing. Default `escrow_mirror`. */
  readonly schema?: string | undefined;
  /** Put before the name of every table, for a schema that others use too. Default none. */
  readonly prefix?: string | undefined;
  /**
   * How long one transaction or read may take: the waits for its turn, for a connection and for locks, and every try, are
   * part of it, the time of `inTransaction` handlers is not. Deliveries that take longer are answered 503. Milliseconds, at
   * most 20,000 (the service waits 30 s for an answer), default 15,000.
   */
  readonly deadlineMs?: number | undefined;
  /**
   * Keeps raw bodies and headers in a table of their own, one partition for each `day` or `month` of arrival, so that
   * pruning drops partitions instead of deleting rows. Ids and digests stay where they are: dedupe holds for ever. Laid out
   * when the store is first opened with it, with `migrate: "auto"` or by `escrow-mirror migrate --partition`; processes that
   * are opened later find it so, with the option or without. Restart those that run already. Default: not partitioned.
   */
  readonly partition?: Period | undefined;
}

/** Where the database is: its address, or what the app has open on it already. */
export type PostgresTarget =
  | {
      /** `postgres://…`. Needs the package `pg`, loaded when the store is opened. */
      readonly connectionString: string;
      /** How many connections are opened at most. Default 10. */
      readonly connectionsMax?: number | undefined;
    }
  | {
      /** A pool of the package `pg`. It stays the app's to end. */
      readonly pool: PgPool;
    }
  | {
      /** A Kysely instance on `pg`, 0.28 or newer. Its plugins are neither applied nor touched. */
      readonly kysely: HostKysely;
    };

/** The options with their defaults; exactly one of `connectionString`, `pool` and `kysely` is there. */
export type PostgresSettings = z.output<typeof schema>;

/** @throws EscrowMirrorError `invalid-configuration` that names the option, and quotes no address */
export function parsePostgresOptions(options: PostgresTarget & PostgresOptions): PostgresSettings {
  return parseConfiguration("postgres", schema, options);
}

const hasMethods =
  (...names: string[]) =>
  (value: unknown): boolean =>
    names.every((name) => typeof (value as Record<string, unknown> | null)?.[name] === "function");

const schema = strictOptions({
  connectionString: z
    .string()
    .regex(
      /\S/,
      "is empty, which is often an environment variable that is not set: expected an address such as postgres://app@localhost:5432/app",
    )
    .refine(isReadable, {
      message:
        "can't be read as an address: write what is special in its password (/ # ? @ %) percent-encoded, %2F for a slash",
    })
    .optional(),
  connectionsMax: wholeNumber(1, 10_000).optional(),
  pool: z.custom<PgPool>(hasMethods("connect", "on"), "expected a Pool of the package pg").optional(),
  kysely: z
    .custom<HostKysely>(
      hasMethods("withoutPlugins", "connection", "executeQuery"),
      "expected a Kysely instance on pg, 0.28 or newer",
    )
    .optional(),
  ...postgresPlace,
  deadlineMs: wholeNumber(1, 20_000).default(15_000),
  partition: z
    .enum(periods, {
      error: ({ input }) => `expected ${periods.map(shown).join(" or ")}, received ${shown(input)}`,
    })
    .optional(),
})
  .refine((target) => targetsOf(target).length > 0, {
    message:
      "expected { connectionString }, { pool } or { kysely }; a connectionString that is undefined is often an environment variable that is not set",
  })
  .refine((target) => targetsOf(target).length < 2, {
    message: "expected only one of connectionString, pool and kysely: leave the others out",
  })
  .refine((target) => target.connectionsMax === undefined || target.connectionString !== undefined, {
    path: ["connectionsMax"],
    message: "is for connections that are opened here: set it where the app makes its pool",
  });

function targetsOf(target: { connectionString?: unknown; pool?: unknown; kysely?: unknown }): unknown[] {
  return [target.connectionString, target.pool, target.kysely].filter((each) => each !== undefined);
}

function wholeNumber(min: number, max: number) {
  const error = ({ input }: { readonly input?: unknown }): string =>
    `expected a whole number from ${min} to ${max}, received ${shown(input)}`;
  return z.int({ error }).min(min, { error }).max(max, { error });
}

function shown(value: unknown): string {
  return typeof value === "string" ? JSON.stringify(value) : String(value);
}

/** As `pg` reads it: a path of a socket, or a URL, which may have no host, or nothing but a host's rest. */
function isReadable(address: string): boolean {
  if (address.startsWith("/")) return true;
  return [address, address.replace("@/", "@host/")].some((each) => URL.canParse(each, "postgres://base"));
}

/**
 * For logs and messages: where the database is, never the password. An `@` further on is one of a password that was not
 * encoded: then nothing of the address is safe to show.
 */
export function describeTarget(settings: PostgresSettings): string {
  return `postgres${targetOf(settings)} schema ${settings.schema}`;
}

function targetOf({ connectionString, pool }: PostgresSettings): string {
  if (connectionString !== undefined) return placeOf(connectionString);
  return pool === undefined ? " (the app's Kysely)" : `${placeOfPool(pool)} (the app's pool)`;
}

/** As far as the pool was told: the rest it takes from its environment. */
function placeOfPool({ options = {} }: PgPool): string {
  const { connectionString, host, port, database } = options;
  if (typeof connectionString === "string") return placeOf(connectionString);
  if (typeof host !== "string") return "";
  return ` ${host}:${port ?? 5432}${database === undefined ? "" : `/${database}`}`;
}

function placeOf(address: string): string {
  if (!URL.canParse(address)) return "";
  const { host, pathname, search, hash } = new URL(address);
  return `${pathname}${search}${hash}`.includes("@") ? "" : ` ${host}${pathname}`;
}
