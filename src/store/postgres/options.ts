import { z } from "zod";
import { parseConfiguration, strictOptions } from "../../shared/configuration.ts";
import { postgresPlace } from "../place-options.ts";
import { periods, type Period } from "./payloads.ts";
import type { HostKysely } from "./host-kysely.ts";
import type { PgPool } from "./pg.ts";

/** Options of `postgres()`. */
export interface PostgresOptions {
  /** The schema of the tables. It is created if it is missing. Default `escrow_mirror`. */
  readonly schema?: string | undefined;
  /** The start of every table's name, for a schema that others use too. Default: none. */
  readonly prefix?: string | undefined;
  /**
   * How long one transaction or read may take, with all its waits and retries. The time of `inTransaction` handlers
   * does not count. Deliveries that take longer get 503. Milliseconds, default 15,000, at most 20,000: the service
   * waits 30 s for an answer.
   */
  readonly deadlineMs?: number | undefined;
  /**
   * Stores raw bodies and headers in a table of their own, with one partition for each `day` or `month` of arrival.
   * Pruning then drops partitions instead of deleting rows. Ids and hashes stay in place, so duplicates are recognised for
   * ever. The first `createMirror` with `migrate: "auto"`, or `escrow-mirror migrate --partition`, makes the partitions.
   * Then restart the processes that already run. Later processes find the partitions, with or without this option.
   * Default: not partitioned.
   */
  readonly partition?: Period | undefined;
  /**
   * Uses LISTEN and NOTIFY, so that handlers run some milliseconds after another process has committed. Without it the
   * mirror checks for new jobs five times a second. It needs one more connection, directly to the server. Behind PgBouncer
   * in transaction mode no notification arrives, and the checks go on. Needs `connectionString` or `pool`. Default `false`.
   */
  readonly listen?: boolean | undefined;
}

/** The database: its address, or a connection that the app already has. */
export type PostgresTarget =
  | {
      /** `postgres://…`. Needs the package `pg`, which is loaded when the store is opened. */
      readonly connectionString: string;
      /** How many connections at most. Default 10. */
      readonly connectionsMax?: number | undefined;
    }
  | {
      /** A pool of the package `pg`. The app ends it. */
      readonly pool: PgPool;
    }
  | {
      /** A Kysely instance on `pg`, version 0.28 or newer. Its plugins are not applied to the mirror's statements. */
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
  listen: z.boolean().default(false),
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
  })
  .refine(({ listen, kysely }) => !listen || kysely === undefined, {
    path: ["listen"],
    message: "needs a connection of its own, which a Kysely instance does not give: pass its pool instead",
  })
  .refine(({ listen, pool }) => !listen || pool?.options?.max !== 1, {
    path: ["listen"],
    message: "takes one connection of the pool for itself, and this pool has one: give it more",
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
