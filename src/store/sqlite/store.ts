import { resolve } from "node:path";
import { Kysely } from "kysely";
import { createLazyStore } from "../lazy-store.ts";
import { proveWriting } from "../prove-writing.ts";
import { prefixPlugin, type MirrorDatabase } from "../sql/database.ts";
import { sqliteDialect } from "../sql/dialect.ts";
import { createKyselyStore } from "../sql/kysely-store.ts";
import { createStatements, type AnyDatabase } from "../sql/statements.ts";
import type { Store } from "../store.ts";
import { createRowBatches } from "./batches.ts";
import { connect, type SqliteConnections } from "./connections.ts";
import { openerOf, reopen } from "./driver.ts";
import { createSqliteEngine } from "./engine.ts";
import { closeAll, type Closable } from "./handle.ts";
import { lendWriter } from "./kysely.ts";
import { parseSqliteOptions, type SqliteOptions, type SqliteTarget } from "./options.ts";
import { createRowQueue, lookAgainWhenChanged, nextRowJobAt, rowQueueStatements } from "./queue.ts";
import { selective } from "./selective.ts";
import { createRowStatements } from "./statements.ts";
import { createFileUpkeep } from "./upkeep.ts";

/**
 * A store in an SQLite file (WAL, `synchronous=FULL`), for one machine and any number of processes. Needs the package
 * `better-sqlite3` (12 or newer), which is loaded when the store is opened.
 *
 * @param target a path (`":memory:"` for tests), or an open better-sqlite3 `Database`. From a `Database` the mirror takes
 *   only the file: it opens its own connections
 * @throws EscrowMirrorError `invalid-configuration`; on opening `missing-peer`, `store-unavailable`, `schema-version`
 */
export function sqlite(target: string | SqliteTarget, options: SqliteOptions = {}): Store {
  const { path, database, prefix, busyTimeoutMs } = parseSqliteOptions(target, options);
  const description = `sqlite ${path ?? (database?.name || ":memory:")}`;
  const { store } = createLazyStore(description, async () => {
    const open = database === undefined ? await openerOf(path ?? "") : reopen(database);
    const owned: Closable[] = [];
    try {
      const connections = await connect(open, path && resolve(path), owned, busyTimeoutMs);
      return buildStore({ description, prefix, connections, owned, busyTimeoutMs });
    } catch (error) {
      // Whoever tries again until a file is free would run out of descriptors.
      closeAll(owned);
      throw error;
    }
  });
  return store;
}

interface StoreParts {
  readonly description: string;
  readonly prefix: string;
  readonly connections: SqliteConnections;
  readonly owned: readonly Closable[];
  readonly busyTimeoutMs: number;
}

function buildStore({ prefix, connections, ...engineParts }: StoreParts): Store {
  const { dialect } = connections.browsing;
  const place = { schema: null, prefix };
  const kysely = new Kysely<AnyDatabase>({ dialect });
  const rowStatements = createRowStatements(kysely, place);
  const queueStatements = rowQueueStatements(place);
  const engine = createSqliteEngine({ ...engineParts, ...connections });
  const store = createKyselyStore({
    engine,
    dialect: sqliteDialect,
    place,
    statements: createStatements(kysely, place, selective),
    db: new Kysely<MirrorDatabase>({ dialect, plugins: [prefixPlugin(place)] }),
    queue: (session, clock) => createRowQueue(session, queueStatements, clock),
    lookEveryMs: 50,
    lend: () => lendWriter(connections.writer, place),
    nextJobAt: lookAgainWhenChanged(connections.reader, (handlers) =>
      engine.read((session) => nextRowJobAt(session, place, handlers)),
    ),
    batches: (session) => createRowBatches(session, rowStatements),
    upkeep: createFileUpkeep(connections, engineParts.busyTimeoutMs),
  });
  return {
    ...store,
    open: async (options) => {
      await store.open(options);
      // Where there is nothing to migrate nothing was written yet: every delivery would find out that nothing can be.
      await proveWriting(store);
    },
  };
}
