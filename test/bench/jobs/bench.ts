/** What handlers cost a delivery, how many jobs a process runs, and how soon, on both stores. */
import Database from "better-sqlite3";
import { join } from "node:path";
import { Client } from "pg";
import { postgres } from "../../../src/postgres.ts";
import { sqlite } from "../../../src/sqlite.ts";
import { createServerOfOurs, type PostgresServer } from "../../support/postgres-server.ts";
import { atLeast, perSecond, shown, withFolder, type Figure } from "../stopwatch.ts";
import { benchAcross } from "./across.ts";
import { runByHand, runByHandOnPostgres } from "./by-hand.ts";
import { concurrency, perRound, type Place } from "./mirrors.ts";
import { installPeers } from "./peers.ts";
import { benchInTransaction, benchReceiving } from "./receiving.ts";
import { benchRunning, benchWaiting, fillJobs } from "./running.ts";

interface Course {
  readonly file: (name: string) => string;
  readonly onSqlite: Place;
  readonly onPostgres: Place;
  readonly server: PostgresServer;
}

/** `BENCH_JOBS=running` measures some parts alone. */
const parts: Record<string, (course: Course) => Promise<Figure[]>> = {
  receiving: async ({ onSqlite, onPostgres, file }) => [
    await benchReceiving(onSqlite),
    await benchReceiving(onPostgres),
    await benchInTransaction(file),
  ],
  running: benchBoth,
  waiting: async ({ file, onSqlite, onPostgres, server }) => [
    ...(await benchWaiting(onSqlite, async (name) => fillSqlite(file(name)))),
    ...(await benchWaiting(onPostgres, (name) => fillPostgres(server.url, name))),
  ],
  across: benchProcesses,
};

export async function benchJobs(): Promise<Figure[]> {
  const only = process.env["BENCH_JOBS"]?.split(",");
  const server = await createServerOfOurs({ fsync: true });
  try {
    return await withFolder(async (folder) => {
      const file = (name: string): string => join(folder, `${name}.db`);
      const onSqlite: Place = { where: "SQLite", open: (name) => sqlite(file(name)) };
      const open = (name: string) => postgres({ connectionString: server.url, schema: name });
      const course: Course = { file, onSqlite, onPostgres: { where: "Postgres", open }, server };
      const figures: Figure[] = [];
      for (const name of only ?? Object.keys(parts)) figures.push(...((await parts[name]?.(course)) ?? []));
      return figures;
    });
  } finally {
    await server.remove();
  }
}

async function benchBoth({ file, onSqlite, onPostgres, server }: Course): Promise<Figure[]> {
  const lite = await benchRunning(onSqlite, (name) => runByHand(file(name)));
  const ours = await benchRunning(onPostgres, (name) => runByHandOnPostgres(server.url, name));
  const { graphile, pgBoss } = installPeers(server.url);
  const count = perRound * 2;
  const against = (mark: number, peer: string, each: number): Figure =>
    atLeast(mark, {
      what: `jobs run in order for each contract, ${concurrency} at once, Postgres`,
      measured: perSecond(ours.each),
      against: `${peer}: ${perSecond(each)}`,
      ratio: each / ours.each,
    });
  const withLocalQueue = await graphile({ count, localQueueSize: 200 });
  return [
    lite.figure,
    ours.figure,
    against(1, `graphile-worker 0.17, ${concurrency} at once, no order`, await graphile({ count })),
    against(5, "graphile-worker 0.17, a queue for each contract", await graphile({ count, hasLines: true })),
    against(1, `pg-boss 10, ${concurrency} × work()`, await pgBoss(concurrency * 2)),
    shown({
      what: "jobs run in order for each contract, Postgres",
      measured: perSecond(ours.each),
      against: `graphile-worker 0.17 with a localQueue of 200, no order: ${perSecond(withLocalQueue)}`,
      ratio: withLocalQueue / ours.each,
    }),
  ];
}

async function benchProcesses({ file, server }: Course): Promise<Figure[]> {
  const onPostgres = {
    place: server.url,
    open: () => postgres({ connectionString: server.url, schema: "waking" }),
  };
  return [
    ...(await benchAcross({
      where: "SQLite",
      place: file("waking"),
      open: () => sqlite(file("waking")),
      how: "look",
      wakeMs: 60,
    })),
    ...(await benchAcross({ ...onPostgres, where: "Postgres", how: "look", wakeMs: 300 })),
    ...(await benchAcross({ ...onPostgres, where: "Postgres, listen: true", how: "listen", wakeMs: 300 })),
  ];
}

function fillSqlite(path: string): void {
  const database = new Database(path);
  const series =
    "(with recursive s(n) as (select 1 union all select n + 1 from s where n < $count) select n from s)";
  for (const statement of fillJobs("escrow_jobs", series)) database.exec(statement);
  database.close();
}

async function fillPostgres(connectionString: string, schema: string): Promise<void> {
  const client = new Client({ connectionString });
  await client.connect();
  for (const statement of fillJobs(`"${schema}".jobs`, "generate_series(1, $count) as n"))
    await client.query(statement);
  await client.query(`analyze "${schema}".jobs`);
  await client.end();
}
