/** Where the processes of one test work: a database with a table of the integrator's own, and a file for their traces. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { systemClock } from "../../src/shared/clock.ts";
import { silentLogger } from "../../src/shared/logger.ts";
import type { DeliveryRow } from "../../src/store/tables/deliveries.ts";
import type { JobRow } from "../../src/store/tables/handlers.ts";
import { freshSchema, postgresUrl, run } from "../support/postgres.ts";
import { openDatabase } from "./database.ts";

export interface Site {
  readonly database: string;
  /** The integrator's own table. */
  readonly table: string;
  /** Where handlers leave their lines. */
  readonly trace: string;
  /** The rows of that table. */
  ledger(): Promise<string[]>;
  /** Whether a transaction that writes is open. */
  isWriting(): Promise<boolean>;
}

let sites = 0;

async function openSqlite(folder: string): Promise<Site> {
  const database = join(folder, `handlers-${++sites}.db`);
  const handle = new Database(database);
  handle.exec("create table ledger (webhook text primary key)");
  handle.close();
  const ledger = async (): Promise<string[]> => {
    const reading = new Database(database, { readonly: true });
    const rows = reading.prepare("select webhook from ledger").all() as { webhook: string }[];
    reading.close();
    return rows.map(({ webhook }) => webhook);
  };
  const isWriting = async (): Promise<boolean> => {
    const writing = new Database(database, { timeout: 1 });
    try {
      writing.exec("begin immediate; rollback");
      return false;
    } catch {
      return true;
    } finally {
      writing.close();
    }
  };
  return { database, table: "ledger", trace: openTrace(folder), ledger, isWriting };
}

async function openPostgres(folder: string): Promise<Site> {
  const own = freshSchema();
  await run(`create schema ${own}`);
  await run(`create table ${own}.ledger (webhook text primary key)`);
  const ledger = async (): Promise<string[]> =>
    (await run(`select webhook from ${own}.ledger`)).map(({ webhook }) => String(webhook));
  const schema = freshSchema();
  const isWriting = async (): Promise<boolean> => {
    const locks = await run(
      `select 1 from pg_locks as l join pg_class as c on c.oid = l.relation
       where c.relnamespace = to_regnamespace('${schema}') and l.mode = 'RowExclusiveLock'`,
    );
    return locks.length > 0;
  };
  const database = `${postgresUrl}#${schema}`;
  return { database, table: `${own}.ledger`, trace: openTrace(folder), ledger, isWriting };
}

function openTrace(folder: string): string {
  const trace = join(folder, `trace-${++sites}.txt`);
  writeFileSync(trace, "");
  return trace;
}

/** Each opens a site. Its files go into the folder. */
export const databases = [
  ["an SQLite file", openSqlite],
  ["Postgres", openPostgres],
] as const;

/** The applied deliveries, and all jobs, in the order of their rows. */
export async function readAll(site: Site): Promise<{ applied: DeliveryRow[]; jobs: JobRow[] }> {
  const store = openDatabase(site.database);
  await store.open({ migrate: "check", logger: silentLogger, clock: systemClock });
  const where = [{ field: "outcome", op: "=", value: "applied" }] as const;
  const found = await store.read(async (reader) => ({
    applied: await reader.find("deliveries", { where, orderBy: ["seq"] }),
    jobs: await reader.find("jobs", { orderBy: ["seq"] }),
  }));
  await store.close();
  return found;
}
