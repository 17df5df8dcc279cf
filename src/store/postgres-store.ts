import {
  CompiledQuery,
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
} from "kysely";
import { systemClock, type Clock } from "../shared/clock.ts";
import { EscrowMirrorError } from "../shared/errors.ts";
import { prefixPlugin, type MirrorDatabase } from "./database.ts";
import { postgresDialect, schemaNameOf, type TablePlace } from "./dialect.ts";
import { createKyselyStore } from "./kysely-store.ts";
import { createLazyStore } from "./lazy-store.ts";
import { createArrayBatches } from "./postgres-batches.ts";
import { createPostgresEngine } from "./postgres-engine.ts";
import { lendOfKysely, lendOfPool, readingDialect } from "./postgres-kysely.ts";
import { prunePayloads } from "./postgres-prune.ts";
import {
  layOutPayloads,
  wholeDeliveries,
  type PayloadLayout,
  type Period,
  type PrunedPayloads,
} from "./postgres-payloads.ts";
import {
  connectionsOfKysely,
  connectionsOfPool,
  type Connections,
  type HostKysely,
  type PgPool,
} from "./postgres-pool.ts";
import { createArrayStatements } from "./postgres-statements.ts";
import type { Session } from "./session.ts";
import { createStatements, type AnyDatabase } from "./statements.ts";
import type { Store } from "./store.ts";

export interface PostgresOptions {
  /** The schema that the tables are in; made when it is missing. Default `escrow_mirror`. */
  readonly schema?: string;
  /** Put before the name of every table, for a schema that others use too. Default none. */
  readonly prefix?: string;
  /** How long one statement, or a free connection, is waited for before a delivery is answered 503. Milliseconds, default 8000. */
  readonly deadlineMs?: number;
  /**
   * Keeps raw bodies and headers in a table of their own, one partition for each `day` or `month` of arrival, so that
   * pruning drops partitions instead of deleting rows. Ids and digests stay where they are: dedupe holds for ever. Laid out
   * when the store is first opened with it, with `migrate: "auto"` or by `escrow-mirror migrate --partition`; processes that
   * are opened later find it so, with the option or without. Restart those that run already. Default: not partitioned.
   */
  readonly partition?: Period;
}

/** The mirror in Postgres, and what only Postgres has. */
export interface PostgresStore extends Store {
  /**
   * Takes raw bodies and headers away that came before `before`: partitions that hold nothing newer are dropped, what is in
   * none is emptied row by row. Facts, ids and digests stay, so that late events still fold right and replays are known.
   * Deliveries that are quarantined, or owed to a handler, keep theirs.
   */
  prunePayloads(before: Date): Promise<PrunedPayloads>;
}

/** Where the database is: its address, or what the app has open on it already. */
export type PostgresTarget =
  | {
      /** `postgres://…`. Needs the package `pg`, loaded when the store is opened. */
      readonly connectionString: string;
      /** How many connections are opened at most. Default 10. */
      readonly connectionsMax?: number;
    }
  | {
      /** A pool of the package `pg`. It stays the app's to end. */
      readonly pool: PgPool;
    }
  | {
      /** A Kysely instance on `pg`, 0.28 or newer. Its plugins are neither applied nor touched. */
      readonly kysely: HostKysely;
    };

/**
 * The mirror in Postgres: for any number of processes on any number of machines. Nothing is kept on a connection beyond
 * its transaction, so that a pooler such as PgBouncer in transaction mode may be in between.
 *
 * ```ts
 * postgres({ connectionString: process.env.DATABASE_URL! })
 * postgres({ pool, schema: "public", prefix: "escrow_" })
 * ```
 *
 * @throws EscrowMirrorError `invalid-configuration`; on opening `missing-peer`, `store-unavailable`, `schema-version`
 */
export function postgres(target: PostgresTarget & PostgresOptions): PostgresStore {
  const { schema = "escrow_mirror", prefix = "", deadlineMs = 8000, partition } = target;
  const place: TablePlace = {
    schema: `"${checkName("schema", schema, /^[A-Za-z_][A-Za-z0-9_]{0,62}$/)}".`,
    prefix: checkName("prefix", prefix, /^[a-z0-9_]{0,30}$/),
  };
  const description = `${describe(target)} schema ${schema}`;
  let built: PostgresStore | undefined;
  const store = createLazyStore(description, async () => {
    const { connections, db } = await connect(target, deadlineMs);
    built = buildStore({ place, description, deadlineMs, partition, connections, db });
    return built;
  });
  return Object.assign(store, {
    prunePayloads: async (before: Date) => {
      if (built !== undefined) return built.prunePayloads(before);
      throw new EscrowMirrorError("store-unavailable", `${description} is not open: createMirror opens it`);
    },
  });
}

interface StoreParts {
  readonly place: TablePlace;
  readonly description: string;
  readonly deadlineMs: number;
  readonly partition: Period | undefined;
  readonly connections: Connections;
  readonly db: Kysely<MirrorDatabase>;
}

function buildStore(parts: StoreParts): PostgresStore {
  const { place, description, deadlineMs, partition, connections, db } = parts;
  const layout: PayloadLayout = { partitioned: false };
  const whole = wholeDeliveries(place, layout);
  const kysely = new Kysely<AnyDatabase>({ dialect: compiling, plugins: [whole] });
  const arrayStatements = createArrayStatements(kysely, place, layout);
  const engine = createPostgresEngine({
    description,
    connections,
    deadlineMs,
    migrationLock: `escrow-mirror ${place.schema}${place.prefix}`,
  });
  const store = createKyselyStore({
    engine,
    dialect: postgresDialect,
    place,
    statements: createStatements(kysely, place),
    db: db.withPlugin(prefixPlugin(place.prefix, schemaNameOf(place))).withPlugin(whole),
    batches: (session) => createArrayBatches(session, arrayStatements),
  });
  let clock: Clock = systemClock;
  const layOut = (mayCreate: boolean, now: Date): Promise<boolean> => {
    const work = (session: Session) => layOutPayloads(session, place, { period: partition, mayCreate, now });
    // Who may not create only looks, and waits for nobody.
    return mayCreate ? engine.migration(work) : engine.read(work);
  };
  return {
    ...store,
    open: async (options) => {
      clock = options.clock;
      await store.open(options);
      layout.partitioned = await layOut(options.migrate === "auto", new Date(options.clock.now()));
    },
    prunePayloads: (before) =>
      prunePayloads({ engine, place, layout, before: before.toISOString(), now: new Date(clock.now()) }),
  };
}

/** Only compiles: what is compiled runs on connections of the engine's. */
const compiling = {
  createAdapter: () => new PostgresAdapter(),
  createDriver: () => new DummyDriver(),
  createIntrospector: (db: Kysely<AnyDatabase>) => new PostgresIntrospector(db),
  createQueryCompiler: () => new PostgresQueryCompiler(),
};

interface Connected {
  readonly connections: Connections;
  readonly db: Kysely<MirrorDatabase>;
}

async function connect(target: PostgresTarget, deadlineMs: number): Promise<Connected> {
  if ("kysely" in target)
    return {
      connections: connectionsOfKysely(target.kysely, deadlineMs, (sql, values) =>
        CompiledQuery.raw(sql, values),
      ),
      db: new Kysely({ dialect: readingDialect(() => lendOfKysely(target.kysely)) }),
    };
  const pool = "pool" in target ? target.pool : await openPool(target, deadlineMs);
  return {
    connections: connectionsOfPool(pool, deadlineMs, !("pool" in target)),
    db: new Kysely({ dialect: readingDialect(() => lendOfPool(pool)) }),
  };
}

async function openPool(
  { connectionString, connectionsMax = 10 }: { connectionString: string; connectionsMax?: number },
  deadlineMs: number,
): Promise<PgPool> {
  const { Pool } = await loadDriver();
  return new Pool({
    connectionString,
    max: connectionsMax,
    connectionTimeoutMillis: deadlineMs,
    keepAlive: true,
    // Statements that don't hang on one another's rows go out together. An older pg takes no notice.
    pipeline: true,
    application_name: "escrow-mirror",
  });
}

async function loadDriver() {
  try {
    return (await import("pg")).default;
  } catch (cause) {
    const message = "postgres() needs the package pg, which can't be loaded: npm install pg";
    throw new EscrowMirrorError("missing-peer", message, { cause });
  }
}

/** For logs: never the password, nor anything else of the address that may hold one. */
function describe(target: PostgresTarget): string {
  if ("kysely" in target) return "postgres (the app's Kysely)";
  if ("pool" in target) return "postgres (the app's pool)";
  const { connectionString } = target;
  if (typeof connectionString !== "string" || connectionString.trim() === "")
    throw new EscrowMirrorError(
      "invalid-configuration",
      "postgres() needs { connectionString }, { pool } or { kysely }; a connection string that is empty is often an environment variable that is not set",
    );
  if (!URL.canParse(connectionString)) return "postgres";
  const { host, pathname } = new URL(connectionString);
  return `postgres ${host}${pathname}`;
}

function checkName(what: string, name: string, allowed: RegExp): string {
  if (allowed.test(name)) return name;
  const message = `${what} ${JSON.stringify(name)} is none that can stand in SQL as it is: ${
    what === "prefix"
      ? "lower-case letters, digits and _ only, at most 30"
      : "letters, digits and _ only, at most 63, no digit first"
  }`;
  throw new EscrowMirrorError("invalid-configuration", message);
}
