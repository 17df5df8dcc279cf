/** Mirrors with many contracts, each with the same reads by hand. */
import Database from "better-sqlite3";
import { Pool } from "pg";
import { createMirror, type Mirror } from "../../src/index.ts";
import { postgres } from "../../src/postgres.ts";
import { sqlite } from "../../src/sqlite.ts";
import { tables } from "../../src/store/tables.ts";
import { fillStatements, postgresBytes, sqliteBytes } from "../support/fill.ts";
import { secret } from "./deliveries.ts";
import { readPostgres, readSqlite, type ReadsByHand } from "./reads-by-hand.ts";

export interface Filled {
  readonly mirror: Mirror;
  readonly byHand: ReadsByHand;
  /** What the reads by hand are made with. */
  readonly floor: string;
  readonly contracts: number;
  close(): Promise<void>;
}

/** A mirror that runs jobs would remove the done ones, which are older than a week. */
const jobs = { run: false };

export async function fillSqlite(path: string, contracts: number): Promise<Filled> {
  const mirror = await createMirror({ store: sqlite(path), webhook: { secrets: secret }, jobs });
  const database = new Database(path);
  database.pragma("synchronous = off");
  for (const sql of fillStatements((table) => `escrow_${table}`, sqliteBytes, contracts)) database.exec(sql);
  database.pragma("wal_checkpoint(truncate)");
  const close = async (): Promise<void> => {
    database.close();
    await mirror.close();
  };
  return { mirror, byHand: readSqlite(database), floor: "prepared statements", contracts, close };
}

export async function fillPostgres(url: string, schema: string, contracts: number): Promise<Filled> {
  const store = postgres({ connectionString: url, schema });
  const mirror = await createMirror({ store, webhook: { secrets: secret }, jobs });
  const pool = new Pool({ connectionString: url, max: 1 });
  for (const sql of fillStatements((table) => `${schema}.${table}`, postgresBytes, contracts))
    await pool.query(sql);
  // As autovacuum would see to within the minute.
  for (const table of Object.keys(tables)) await pool.query(`vacuum analyze ${schema}.${table}`);
  const close = async (): Promise<void> => {
    await pool.end();
    await mirror.close();
  };
  return { mirror, byHand: readPostgres(pool, schema), floor: "statements without names", contracts, close };
}
