import { Kysely } from "kysely";
import { z } from "zod";
import { parseConfiguration, strictOptions } from "../../shared/configuration.ts";
import { EscrowMirrorError } from "../../shared/errors.ts";
import { createLock } from "../../shared/lock.ts";
import { prefixPlugin, type MirrorDatabase } from "../sql/database.ts";
import { sqliteDialect } from "../sql/dialect.ts";
import { createKyselyStore } from "../sql/kysely-store.ts";
import { createLazyStore } from "../lazy-store.ts";
import { sqlitePlace } from "../place-options.ts";
import { proveWriting } from "../prove-writing.ts";
import { createRowBatches } from "./batches.ts";
import { closeAll, createSqliteEngine, refuseInTransaction, whenFree, type Closable } from "./engine.ts";
import { guarded, type SqliteHandle } from "./handle.ts";
import { selective } from "./selective.ts";
import { browseAlone, browseShared, lendWriter } from "./kysely.ts";
import { createRowQueue, nextRowJobAt } from "./queue.ts";
import { createStatements, type AnyDatabase } from "../sql/statements.ts";
import type { Store } from "../store.ts";

export interface SqliteOptions {
  /** Put before the name of every table, so that they can share a database with others. Default `escrow_`. */
  readonly prefix?: string | undefined;
  /** How long to wait for another process's transaction before answering 503. Milliseconds, at most 20,000, default 800. */
  readonly busyTimeoutMs?: number | undefined;
}

/**
 * The mirror in an SQLite file (WAL, `synchronous=FULL`): for one machine, any number of processes. Needs the
 * package `better-sqlite3` (12 or newer), loaded when the store is opened.
 *
 * @param target a path (`":memory:"` for tests), or an open better-sqlite3 `Database`: the mirror then opens
 *   connections of its own on the same file, and leaves that one alone.
 * @throws EscrowMirrorError `invalid-configuration`; on opening `missing-peer`, `store-unavailable`, `schema-version`
 */
export function sqlite(target: string | SqliteTarget, options: SqliteOptions = {}): Store {
  const named = typeof target === "string" ? { path: target } : target;
  const settings = parseConfiguration("sqlite", schema, { ...named, ...options });
  const place = settings.path ?? settings.database?.name ?? "";
  const { store } = createLazyStore(`sqlite ${place || ":memory:"}`, async () => {
    const { database, prefix, busyTimeoutMs } = settings;
    const open = database === undefined ? await openerOf(place) : reopen(database);
    const owned: Closable[] = [];
    try {
      return await buildStore(open, owned, { place, prefix, busyTimeoutMs });
    } catch (error) {
      // Whoever tries again until a file is free would run out of descriptors.
      closeAll(owned);
      throw error;
    }
  });
  return store;
}

export type SqliteTarget = ({ readonly path: string } | { readonly database: SqliteHandle }) & SqliteOptions;

const somePath = z
  .string()
  .regex(/\S/, 'expected a path: sqlite("escrow.db"), or ":memory:" for tests')
  // The command line writes addresses so; a file of such a name would be another, empty mirror.
  .regex(
    /^(?!(sqlite|file|postgres(ql)?):)/i,
    'expected a path alone, without "sqlite:" or "file:" before it',
  );
const isHandle = (value: unknown): boolean => {
  const { prepare, pragma } = (value ?? {}) as Partial<SqliteHandle>;
  return typeof prepare === "function" && typeof pragma === "function";
};

const schema = strictOptions({
  path: somePath.optional(),
  database: z.custom<SqliteHandle>(isHandle, "expected an open better-sqlite3 Database").optional(),
  ...sqlitePlace,
  // The service waits 30 s for an answer.
  busyTimeoutMs: z.int().min(0).max(20_000).default(800),
}).refine((target) => (target.path === undefined) !== (target.database === undefined), {
  message: 'expected a path or a database: sqlite("escrow.db"), sqlite({ path }) or sqlite({ database })',
});

interface Opener {
  (): SqliteHandle;
  /** The host's handle itself, which is not ours to close. */
  readonly lent?: true;
}

interface StorePlace {
  readonly place: string;
  readonly prefix: string;
  readonly busyTimeoutMs: number;
}

/** @param owned is given what was opened, the writer last, whether or not the rest works out */
async function buildStore(
  open: Opener,
  owned: Closable[],
  { place, prefix, busyTimeoutMs }: StorePlace,
): Promise<Store> {
  const writer = await whenFree(open, busyTimeoutMs);
  if (open.lent !== true) owned.unshift(writer);
  if (open.lent === true) refuseInTransaction(writer);
  else keepStatementJournalsInMemory(writer);
  await whenFree(() => configure(writer), busyTimeoutMs);
  const writeLock = createLock();
  const { reader, readLock, browsing } = writer.memory
    ? { reader: writer, readLock: writeLock, browsing: browseShared(writer, writeLock) }
    : openReaders(writer, owned);
  const engine = createSqliteEngine({
    description: `sqlite ${place}`,
    writer,
    reader,
    owned,
    writeLock,
    readLock,
    busyTimeoutMs,
  });
  const { dialect } = browsing;
  const kysely = new Kysely<AnyDatabase>({ dialect });
  const where = { schema: null, prefix };
  const db = new Kysely<MirrorDatabase>({ dialect, plugins: [prefixPlugin(where)] });
  const statements = createStatements(kysely, where, selective);
  const store = createKyselyStore({
    engine,
    dialect: sqliteDialect,
    place: where,
    statements,
    db,
    queue: (session, clock) => createRowQueue(session, where, clock),
    lookEveryMs: 40,
    lend: () => lendWriter(writer, where),
    nextJobAt: (session, handlers) => nextRowJobAt(session, where, handlers),
    batches: (session) => createRowBatches(session, statements),
  });
  return {
    ...store,
    open: async (options) => {
      await store.open(options);
      // Where there is nothing to migrate nothing was written yet: every delivery would find out that nothing can be.
      await store.transaction(proveWriting);
    },
  };
}

/** One connection for the mirror's own reads, and one for those of `mirror.db`, which may take as long as they like. */
function openReaders(writer: SqliteHandle, owned: Closable[]) {
  const reader = openBeside(writer, true);
  owned.unshift(reader);
  const browser = openBeside(writer, true);
  const browsing = browseAlone(browser, createLock());
  owned.unshift({
    close: () => {
      browsing.endStreams();
      browser.close();
    },
  });
  return { reader, readLock: createLock(), browsing };
}

/**
 * What undoes a statement that fails half-way would go to temporary files, hundreds of writes a commit, and a container may
 * have no place for them. Not on a handle that is not ours: the pragma drops the temporary tables of its owner.
 */
function keepStatementJournalsInMemory(own: SqliteHandle): void {
  own.pragma("temp_store = memory");
}

/** Durable before acknowledged: a commit is on the disk when it returns (semantics §1.1). */
function configure(handle: SqliteHandle): void {
  handle.pragma("journal_mode = wal");
  handle.pragma("synchronous = full");
  handle.pragma("cache_size = -32768");
  // Ids are random: every batch writes to pages all over their indexes. With a longer WAL (16 MiB) a page that several
  // batches wrote to goes to the database once.
  handle.pragma("wal_autocheckpoint = 4096");
  // After a burst the WAL file shrinks again to this.
  handle.pragma("journal_size_limit = 67108864");
}

async function openerOf(path: string): Promise<Opener> {
  const Database = await loadDriver();
  return () => {
    try {
      return new Database(path, connectionOptions(false));
    } catch (cause) {
      throw isUnbuilt(cause)
        ? missingDriver("is installed but not built for this Node: npm rebuild", cause)
        : cause;
    }
  };
}

/** Its native part is not there, or of another Node. */
function isUnbuilt(error: unknown): boolean {
  return error instanceof Error && /bindings file|NODE_MODULE_VERSION|ERR_DLOPEN/.test(error.message);
}

function missingDriver(whatAndFix: string, cause: unknown): EscrowMirrorError {
  const message = `sqlite() needs the package better-sqlite3, which ${whatAndFix} better-sqlite3, and allow its install script (npm install-scripts approve better-sqlite3)`;
  return new EscrowMirrorError("missing-peer", message, { cause });
}

/** Connections of our own beside the host's. */
function reopen(database: SqliteHandle): Opener {
  if (database.memory) return Object.assign(() => database, { lent: true as const });
  return () => openBeside(database, false);
}

/** Another connection to the file that a handle has open, made by the same copy of the driver. */
function openBeside(handle: SqliteHandle, readonly: boolean): SqliteHandle {
  const Database = handle.constructor as new (path: string, options: object) => SqliteHandle;
  return new Database(fileOf(handle), connectionOptions(readonly));
}

/** As SQLite itself has it, whole: the name that was given means another file once the process is in another folder. */
function fileOf(handle: SqliteHandle): string {
  const databases = guarded(() => handle.pragma("database_list")) as { name: string; file: string }[];
  return databases.find(({ name }) => name === "main")?.file ?? handle.name;
}

/** In WAL mode a read waits only while another process recovers the log: SQLite's own, blocking time-out will do. */
const readBusyTimeoutMs = 1000;

function connectionOptions(readonly: boolean) {
  return { readonly, timeout: readonly ? readBusyTimeoutMs : 0 };
}

async function loadDriver() {
  try {
    return (await import("better-sqlite3")).default;
  } catch (cause) {
    throw missingDriver("can't be loaded: npm install", cause);
  }
}
