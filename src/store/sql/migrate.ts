import { toIsoTime } from "../../shared/clock.ts";
import { EscrowMirrorError, isEscrowMirrorError } from "../../shared/errors.ts";
import { settle } from "../../shared/result.ts";
import { sqlNamesIn, sqlSchemaOf, type Dialect, type TablePlace } from "./dialect.ts";
import { initial } from "./migrations/0001-initial.ts";
import type { Engine, Session } from "./session.ts";
import type { OpenOptions } from "../store.ts";
import { tables } from "../tables.ts";

/** In order, numbered 1, 2, 3 …; one that was released is never changed. */
const migrations = [initial];

/** The schema version that this package reads and writes. */
export const schemaVersion = migrations.length;

/**
 * Brings the tables to this package's version. All in one transaction that takes the write lock first: of several
 * processes that start at once one migrates and the rest find it done, and a process killed half-way leaves nothing.
 */
export async function migrate(
  engine: Engine,
  dialect: Dialect,
  place: TablePlace,
  options: OpenOptions,
): Promise<void> {
  const found = await engine.migration(async (session) => {
    const at = { session, dialect, place, store: engine.description };
    const applied = await appliedMigrations(at);
    refuseRenamed(applied, engine.description);
    const version = applied.at(-1)?.version ?? 0;
    if (options.migrate === "check" || version >= schemaVersion) return version;
    if (version === 0) await refuseForeignTables(at);
    await makeSchema(session, dialect, place);
    await session.run(migrationsTable(dialect, place), []);
    for (const migration of migrations.slice(version)) await apply(migration, session);
    return version;
  });
  if (found > schemaVersion || (options.migrate === "check" && found < schemaVersion))
    throw new EscrowMirrorError("schema-version", explain(found, engine.description));
  if (found < schemaVersion)
    options.logger.info({ from: found, to: schemaVersion, store: engine.description }, "migrated the store");

  async function apply({ version, name, statements }: (typeof migrations)[number], session: Session) {
    const now = toIsoTime(options.clock.now());
    const site = { session, dialect, place, store: engine.description };
    for (const sql of statements(dialect.types, sqlSchemaOf(place), place.prefix)) await runNamed(site, sql);
    await session.run(recordOf(place, version, name, now), []);
  }
}

/** All statements that `migrate` would run on an empty database, for teams whose deploys own the schema. */
export function migrationSql(dialect: Dialect, place: TablePlace, now: string): string[] {
  return [
    ...createSchema(place),
    migrationsTable(dialect, place),
    ...migrations.flatMap(({ version, name, statements }) => [
      ...statements(dialect.types, sqlSchemaOf(place), place.prefix),
      recordOf(place, version, name, now),
    ]),
  ];
}

interface Applied {
  readonly version: number;
  readonly name: string;
}

interface Site {
  readonly session: Session;
  readonly dialect: Dialect;
  readonly place: TablePlace;
  /** For messages. */
  readonly store: string;
}

async function appliedMigrations(site: Site): Promise<Applied[]> {
  if (!(await hasTable(site, "migrations"))) return [];
  const { session, place } = site;
  const listed = await settle(() =>
    session.all(`select version, name from ${sqlNamesIn(place)("migrations")} order by version`, []),
  );
  if (listed.ok)
    return listed.value.map(([version, name]) => ({ version: Number(version), name: String(name) }));
  throw isOfStore(listed.error) ? listed.error : foreignTable(site, "migrations", listed.error);
}

/** Not one that tells of a column that is missing: of a table that is there, that says whose it is not. */
function isOfStore(error: unknown): error is EscrowMirrorError {
  if (!isEscrowMirrorError(error)) return false;
  const { code } = (error.cause ?? {}) as { code?: unknown };
  return code !== "SQLITE_ERROR" && code !== "42703";
}

/** Runs a statement that names something new, such as an index. */
async function runNamed(site: Site, sql: string): Promise<void> {
  const done = await settle(() => site.session.run(sql, []));
  if (done.ok) return;
  const taken = done.error instanceof Error && /already (exists|an? \w+ named)/.test(done.error.message);
  const [, name = "something"] = /^create \w+ (?:index )?(?:".+"\.)?(\w+)/.exec(sql) ?? [];
  throw taken ? foreign(site, name, done.error) : (done.error as Error);
}

/** Where no migration has run, no table of ours can be. */
async function refuseForeignTables(site: Site): Promise<void> {
  for (const table of Object.keys(tables)) if (await hasTable(site, table)) throw foreignTable(site, table);
}

async function hasTable(site: Site, table: string): Promise<boolean> {
  const name = sqlNamesIn(site.place)(table);
  const [found] = await site.session.all(site.dialect.tableExists, [name]);
  if (found !== undefined && found[0] !== name) throw otherCase(site, String(found[0]));
  return found !== undefined;
}

function otherCase({ store, place }: Site, found: string): EscrowMirrorError {
  return new EscrowMirrorError(
    "invalid-configuration",
    `${store} holds ${found}, and SQLite ignores upper and lower case: the prefix ${JSON.stringify(place.prefix)} would mean the same tables. Write the prefix as it is there, or choose another.`,
  );
}

function foreignTable(site: Site, table: string, cause?: unknown): EscrowMirrorError {
  return foreign(site, `a table ${site.place.prefix}${table}`, cause);
}

function foreign({ store }: Site, what: string, cause?: unknown): EscrowMirrorError {
  return new EscrowMirrorError(
    "invalid-configuration",
    `${store} holds ${what} that is not the mirror's. Give the mirror a prefix that nothing else uses, or a place of its own (SQLite: a file, Postgres: a schema).`,
    { cause },
  );
}

/** Before its release a migration may still change, and then its name does: tables of another shape fail late and oddly. */
function refuseRenamed(applied: readonly Applied[], store: string): void {
  for (const { version, name } of applied) {
    const ours = migrations.find((migration) => migration.version === version)?.name;
    if (ours === undefined || ours === name) continue;
    throw new EscrowMirrorError(
      "schema-version",
      `${store} and this package differ in migration ${version} ("${name}" there, "${ours}" here): one of the two was made before this migration was released. Move the database away (SQLite: its file with -wal and -shm; Postgres: rename its schema) and import your contracts into an empty one, or use the version that made it.`,
    );
  }
}

/** Looked for first: making a schema takes a right that its mere owner may not have. */
async function makeSchema(session: Session, { schemaExists }: Dialect, place: TablePlace): Promise<void> {
  if (schemaExists === null) return;
  const [schema] = await session.all(schemaExists, [place.schema]);
  if (schema !== undefined) return;
  for (const sql of createSchema(place)) await session.run(sql, []);
}

function createSchema({ schema }: TablePlace): string[] {
  return schema === null ? [] : [`create schema if not exists "${schema}"`];
}

function recordOf(place: TablePlace, version: number, name: string, now: string): string {
  return `insert into ${sqlNamesIn(place)("migrations")} (version, name, applied_at) values (${version}, '${name}', '${now}')`;
}

function migrationsTable({ types }: Dialect, place: TablePlace): string {
  const { integer, text } = types;
  return `create table if not exists ${sqlNamesIn(place)("migrations")} (
  version ${integer} not null primary key,
  name ${text} not null,
  applied_at ${text} not null
)`;
}

function explain(found: number, store: string): string {
  if (found > schemaVersion)
    return `${store} has schema version ${found}, this package knows ${schemaVersion}: a newer release has migrated it. Upgrade escrow-mirror here.`;
  if (found === 0)
    return `${store} holds no mirror. If that is the right place (file or schema, and prefix), make its tables: run escrow-mirror migrate, or set migrate: "auto".`;
  return `${store} has schema version ${found}, this package needs ${schemaVersion}. Run escrow-mirror migrate, or set migrate: "auto".`;
}
