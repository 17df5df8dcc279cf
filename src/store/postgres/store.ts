import {
  CompiledQuery,
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
} from "kysely";
import { systemClock, type Clock } from "../../shared/clock.ts";
import { EscrowMirrorError } from "../../shared/errors.ts";
import { prefixPlugin, type MirrorDatabase } from "../sql/database.ts";
import { postgresDialect, sqlNamesIn, type TablePlace } from "../sql/dialect.ts";
import { createKyselyStore } from "../sql/kysely-store.ts";
import { createLazyStore } from "../lazy-store.ts";
import { createArrayBatches } from "./batches.ts";
import { createPostgresEngine } from "./engine.ts";
import { language, lendOfKysely, lendOfPool, readingDialect } from "./kysely.ts";
import { lend } from "../sql/lending.ts";
import { within } from "../../shared/within.ts";
import { lateAnswer, toLentFault } from "./faults.ts";
import {
  describeTarget,
  parsePostgresOptions,
  type PostgresOptions,
  type PostgresSettings,
  type PostgresTarget,
} from "./options.ts";
import { proveWriting } from "../prove-writing.ts";
import { probe } from "./probe.ts";
import { dropPartitions } from "./prune.ts";
import { layOutPayloads, type Period } from "./payloads.ts";
import { listenForJobs, type HeldClient } from "./listen.ts";
import { inTime, type Connections } from "./connection.ts";
import { connectionsOfKysely } from "./host-kysely.ts";
import type { PgPool } from "./pg.ts";
import { connectionsOfPool, giveBack, take } from "./pool.ts";
import { nextArrayJobAt } from "./next-job.ts";
import { arrayQueueStatements, createArrayQueue } from "./queue.ts";
import { createArrayStatements } from "./statements.ts";
import type { Session } from "../sql/session.ts";
import { createStatements, type AnyDatabase } from "../sql/statements.ts";
import type { Store } from "../store.ts";

/**
 * A store in Postgres, for any number of processes on any number of machines. Connections hold no state between
 * transactions, so you can use a pooler such as PgBouncer in transaction mode.
 *
 * ```ts
 * postgres({ connectionString: process.env.DATABASE_URL! })
 * postgres({ pool, schema: "public", prefix: "escrow_" })
 * ```
 *
 * @throws EscrowMirrorError `invalid-configuration`; on opening `missing-peer`, `store-unavailable`, `schema-version`
 */
export function postgres(target: PostgresTarget & PostgresOptions): Store {
  const settings = parsePostgresOptions(target);
  const { schema, prefix, deadlineMs, partition } = settings;
  const place = { schema, prefix };
  const description = describeTarget(settings);
  const { store } = createLazyStore(description, async () => {
    const { connections, db } = await connect(settings, description);
    const built = buildStore({ place, description, deadlineMs, partition, connections, db });
    if (!settings.listen) return built;
    const hold = (): Promise<HeldClient> => holdClient(settings);
    return { ...built, listen: (listener) => listenForJobs({ place, connect: hold }, listener) };
  });
  return store;
}

interface StoreParts {
  readonly place: TablePlace;
  readonly description: string;
  readonly deadlineMs: number;
  readonly partition: Period | undefined;
  readonly connections: Connections;
  readonly db: Kysely<MirrorDatabase>;
}

function buildStore(parts: StoreParts): Store {
  const { place, description, deadlineMs, partition, connections, db } = parts;
  const kysely = new Kysely<AnyDatabase>({ dialect: compiling });
  const arrayStatements = createArrayStatements(kysely, place);
  const queueStatements = arrayQueueStatements(place);
  let clock: Clock = systemClock;
  const engine = createPostgresEngine({
    description,
    connections,
    deadlineMs,
    migrationLock: `escrow-mirror ${sqlNamesIn(place)("")}`,
  });
  const store = createKyselyStore({
    engine,
    dialect: postgresDialect,
    place,
    statements: createStatements(kysely, place),
    db: db.withPlugin(prefixPlugin(place)),
    batches: (session) => createArrayBatches(session, arrayStatements),
    queue: (session, injected) => createArrayQueue(session, queueStatements, () => injectedIn(injected())),
    lookEveryMs: 200,
    lend: (session) => {
      const goOn = session.pauseTime();
      const lent = lend({
        place,
        language,
        execute: (query) => session.execute(query),
        connection: session.driver,
        faultOf: (error) => toLentFault(description, error),
      });
      const takeBack = (): void => {
        lent.takeBack();
        goOn();
      };
      return { ...lent, takeBack };
    },
    nextJobAt: (handlers) =>
      nextArrayJobAt((sql, values) => engine.look(sql, values), place, handlers, injectedIn(clock)),
    upkeep: {
      dropPayloads: (before) => dropPartitions({ engine, place, before, now: new Date(clock.now()) }),
      // Autovacuum makes the room of deleted rows free for new ones.
      shrink: async () => false,
      // Dead rows, the write-ahead log, replicas and backups are beyond what a client can tell.
      wipe: async () => false,
    },
  });
  const layOut = (mayCreate: boolean, now: Date): Promise<boolean> => {
    const work = (session: Session) => layOutPayloads(session, place, { period: partition, mayCreate, now });
    // Who may not create only looks, and waits for nobody.
    return mayCreate ? engine.migration(work) : engine.read(work);
  };
  return {
    ...store,
    open: async (options) => {
      clock = options.clock;
      await probe(engine, description);
      await store.open(options);
      await layOut(options.migrate === "auto", new Date(options.clock.now()));
      await proveWriting(store);
    },
  };
}

function injectedIn(clock: Clock): Clock | undefined {
  return clock === systemClock ? undefined : clock;
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

async function connect(settings: PostgresSettings, store: string): Promise<Connected> {
  const { kysely, deadlineMs } = settings;
  if (kysely !== undefined)
    return {
      connections: connectionsOfKysely(kysely, deadlineMs, (sql, values) => CompiledQuery.raw(sql, values)),
      db: new Kysely({ dialect: readingDialect({ store, deadlineMs, lend: () => lendOfKysely(kysely) }) }),
    };
  const pool = settings.pool ?? (await openPool(settings));
  return {
    connections: connectionsOfPool(pool, deadlineMs, settings.pool === undefined),
    db: new Kysely({ dialect: readingDialect({ store, deadlineMs, lend: () => lendOfPool(pool) }) }),
  };
}

async function openPool({
  connectionString,
  connectionsMax = 10,
  deadlineMs,
}: PostgresSettings): Promise<PgPool> {
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

/** A connection for as long as it lasts: the pool's, or beside our own pool, which may be small. */
async function holdClient({ pool, connectionString, deadlineMs }: PostgresSettings): Promise<HeldClient> {
  if (pool !== undefined) {
    const client = await inTime(deadlineMs, take(pool), (late) => giveBack(late, false));
    // It is not given back: whoever had it next would hear what we listen to.
    return { client, drop: async () => giveBack(client, true) };
  }
  const { Client } = await loadDriver();
  const client = new Client({
    connectionString,
    connectionTimeoutMillis: deadlineMs,
    keepAlive: true,
    application_name: "escrow-mirror listening",
  });
  client.on("error", () => undefined);
  await client.connect();
  return { client, drop: () => within(deadlineMs, client.end(), () => lateAnswer("did not end")) };
}

async function loadDriver() {
  try {
    return (await import("pg")).default;
  } catch (cause) {
    const message = "postgres() needs the package pg, which can't be loaded: npm install pg";
    throw new EscrowMirrorError("missing-peer", message, { cause });
  }
}
