import { toIsoTime } from "../shared/clock.ts";
import { EscrowMirrorError } from "../shared/errors.ts";
import { schemaNameOf, type Dialect, type TablePlace } from "./dialect.ts";
import { initial } from "./migrations/0001-initial.ts";
import type { Engine, Session } from "./session.ts";
import type { OpenOptions } from "./store.ts";

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
    const applied = await appliedMigrations(session, dialect, place);
    refuseRenamed(applied, engine.description);
    const version = applied.at(-1)?.version ?? 0;
    if (options.migrate === "check" || version >= schemaVersion) return version;
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
    for (const sql of statements(dialect.types, place.schema, place.prefix)) await session.run(sql, []);
    await session.run(recordOf(place, version, name, now), []);
  }
}

/** All statements that `migrate` would run on an empty database, for teams whose deploys own the schema. */
export function migrationSql(dialect: Dialect, place: TablePlace, now: string): string[] {
  return [
    ...createSchema(place),
    migrationsTable(dialect, place),
    ...migrations.flatMap(({ version, name, statements }) => [
      ...statements(dialect.types, place.schema, place.prefix),
      recordOf(place, version, name, now),
    ]),
  ];
}

interface Applied {
  readonly version: number;
  readonly name: string;
}

async function appliedMigrations(session: Session, dialect: Dialect, place: TablePlace): Promise<Applied[]> {
  const migrationsName = `${place.schema}${place.prefix}migrations`;
  const [table] = await session.all(dialect.tableExists, [migrationsName]);
  if (table === undefined) return [];
  const rows = await session.all(`select version, name from ${migrationsName} order by version`, []);
  return rows.map(([version, name]) => ({ version: Number(version), name: String(name) }));
}

/** Before its release a migration may still change, and then its name does: tables of another shape fail late and oddly. */
function refuseRenamed(applied: readonly Applied[], store: string): void {
  for (const { version, name } of applied) {
    const ours = migrations.find((migration) => migration.version === version)?.name;
    if (ours === undefined || ours === name) continue;
    throw new EscrowMirrorError(
      "schema-version",
      `${store} and this package differ in migration ${version} ("${name}" there, "${ours}" here): one of them is from before its release. Delete the database (SQLite: its file; Postgres: its schema), or use the version that made it.`,
    );
  }
}

/** Looked for first: making a schema takes a right that its mere owner may not have. */
async function makeSchema(session: Session, { schemaExists }: Dialect, place: TablePlace): Promise<void> {
  if (schemaExists === null) return;
  const [schema] = await session.all(schemaExists, [schemaNameOf(place)]);
  if (schema !== undefined) return;
  for (const sql of createSchema(place)) await session.run(sql, []);
}

function createSchema(place: TablePlace): string[] {
  const name = schemaNameOf(place);
  return name === null ? [] : [`create schema if not exists "${name}"`];
}

function recordOf({ schema, prefix }: TablePlace, version: number, name: string, now: string): string {
  return `insert into ${schema}${prefix}migrations (version, name, applied_at) values (${version}, '${name}', '${now}')`;
}

function migrationsTable({ types }: Dialect, { schema, prefix }: TablePlace): string {
  const { integer, text } = types;
  return `create table if not exists ${schema}${prefix}migrations (
  version ${integer} not null primary key,
  name ${text} not null,
  applied_at ${text} not null
)`;
}

function explain(found: number, store: string): string {
  if (found > schemaVersion)
    return `${store} has schema version ${found}, this package knows ${schemaVersion}: a newer release has migrated it. Upgrade escrow-mirror here.`;
  return `${store} has schema version ${found}, this package needs ${schemaVersion}. Run its migrations, or set migrate: "auto".`;
}
