import { createRequire } from "node:module";

import type BetterSqlite3 from "better-sqlite3";

import { buildAdvice, isUnbuilt, unfitDriver } from "../../shared/better-sqlite3.ts";
import { SandboxError } from "./sandbox-error.ts";
import type { Change, Journal } from "./state.ts";

const schema = `
  create table if not exists sandbox_record (
    place integer primary key autoincrement,
    kind text not null,
    id text not null,
    json text not null,
    unique (kind, id)
  )`;

/** Grows when a record changes its shape: records are read back as they were written. */
const formatVersion = 2;

/** Opens (or makes) the SQLite file that `data` names. A commit is one transaction. */
export function openJournal(path: string): Journal {
  const database = openDatabase(path);
  const put = database.prepare(
    "insert into sandbox_record (kind, id, json) values (?, ?, ?) on conflict (kind, id) do update set json = excluded.json",
  );
  const remove = database.prepare("delete from sandbox_record where kind = ? and id = ?");
  const rows = database.prepare<[], { kind: string; id: string; json: string }>(
    "select kind, id, json from sandbox_record order by place",
  );
  const write = database.transaction((changes: Iterable<Change>) => {
    for (const { kind, id, json } of changes) {
      if (json === null) remove.run(kind, id);
      else put.run(kind, id, json);
    }
  });
  return { load: () => rows.all(), write, close: () => void database.close() };
}

function openDatabase(path: string): BetterSqlite3.Database {
  const open = loadSqlite();
  try {
    const database = open(path);
    database.pragma("journal_mode = WAL");
    refuseOtherFormat(database);
    database.exec(schema);
    database.pragma(`user_version = ${formatVersion}`);
    return database;
  } catch (cause) {
    if (isUnbuilt(cause)) throw missingDriver(buildAdvice, cause);
    const seen = cause instanceof Error ? cause.message : String(cause);
    throw new SandboxError(
      "invalid-configuration",
      `Can't open the sandbox's data file ${path}: ${seen}. Its folder must exist and be writable, and the file must be one that a sandbox made.`,
      { cause },
    );
  }
}

/** Only `data` needs the driver: loaded here and not at the top, so that the sandbox runs without it. */
function loadSqlite(): (path: string) => BetterSqlite3.Database {
  const unfit = unfitDriver();
  if (unfit !== undefined) throw missingDriver(unfit);
  try {
    const Driver: typeof BetterSqlite3 = createRequire(import.meta.url)("better-sqlite3");
    return (path) => new Driver(path);
  } catch (cause) {
    throw missingDriver(
      isUnbuilt(cause) ? buildAdvice : "can't be loaded: npm install better-sqlite3",
      cause,
    );
  }
}

function missingDriver(whatAndFix: string, cause?: unknown): SandboxError {
  return new SandboxError(
    "missing-peer",
    `The sandbox option data keeps its state in SQLite and needs better-sqlite3, which ${whatAndFix}. Or leave data out: the state is then in memory.`,
    { cause },
  );
}

function refuseOtherFormat(database: BetterSqlite3.Database): void {
  const tables = database
    .prepare<[], { name: string }>("select name from sqlite_master where type = 'table'")
    .all();
  const version = database.pragma("user_version", { simple: true });
  if (
    tables.length === 0 ||
    (version === formatVersion && tables.some(({ name }) => name === "sandbox_record"))
  )
    return;
  throw new Error(
    `it holds something else, or was made by another version (format ${String(version)}, not ${formatVersion})`,
  );
}
