import { toIsoTime } from "../shared/clock.ts";
import { EscrowMirrorError } from "../shared/errors.ts";
import type { Dialect } from "./dialect.ts";
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
  prefix: string,
  options: OpenOptions,
): Promise<void> {
  const found = await engine.transaction(async (session) => {
    const version = await currentVersion(session, dialect, prefix);
    if (options.migrate === "check") return version;
    await session.run(migrationsTable(dialect, prefix), []);
    for (const migration of migrations.slice(version)) await apply(migration, session);
    return version;
  });
  if (found > schemaVersion || (options.migrate === "check" && found < schemaVersion))
    throw new EscrowMirrorError("schema-version", explain(found, engine.description));
  if (found < schemaVersion)
    options.logger.info({ from: found, to: schemaVersion, store: engine.description }, "migrated the store");

  async function apply({ version, name, statements }: (typeof migrations)[number], session: Session) {
    for (const sql of statements(dialect.types, prefix)) await session.run(sql, []);
    await session.run(
      `insert into ${prefix}migrations (version, name, applied_at) values (${version}, ?, ?)`,
      [name, toIsoTime(options.clock.now())],
    );
  }
}

/** All statements that `migrate` would run on an empty database, for teams whose deploys own the schema. */
export function migrationSql(dialect: Dialect, prefix: string): string[] {
  return [
    migrationsTable(dialect, prefix),
    ...migrations.flatMap(({ version, name, statements }) => [
      ...statements(dialect.types, prefix),
      `insert into ${prefix}migrations (version, name, applied_at) values (${version}, '${name}', current_timestamp)`,
    ]),
  ];
}

async function currentVersion(session: Session, dialect: Dialect, prefix: string): Promise<number> {
  const [table] = await session.all(dialect.tableExists, [`${prefix}migrations`]);
  if (table === undefined) return 0;
  const [row] = await session.all(`select coalesce(max(version), 0) from ${prefix}migrations`, []);
  return Number(row?.[0]);
}

function migrationsTable({ types }: Dialect, prefix: string): string {
  const { integer, text } = types;
  return `create table if not exists ${prefix}migrations (
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
