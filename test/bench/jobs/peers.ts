/** Other queues on Postgres, with jobs that do nothing. They are installed into a folder of their own and used by shape. */
import { spawnSync } from "node:child_process";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { Client } from "pg";
import { microsecondsEach } from "../stopwatch.ts";
import { concurrency } from "./mirrors.ts";

interface GraphileWorker {
  readonly run: (options: object) => Promise<{ stop(): Promise<void> }>;
  readonly runMigrations: (options: object) => Promise<void>;
  readonly Logger: new (factory: () => () => void) => unknown;
}

interface PgBoss {
  start(): Promise<unknown>;
  stop(options: object): Promise<void>;
  on(event: "error", listener: () => void): void;
  createQueue(name: string): Promise<void>;
  insert(jobs: object[]): Promise<unknown>;
  work(name: string, handler: (jobs: object[]) => Promise<void>): Promise<string>;
}

export interface Peers {
  /** Microseconds of a job of graphile-worker. */
  readonly graphile: (how: GraphileSettings) => Promise<number>;
  /** Microseconds of a job of pg-boss, as its `work()` takes them. */
  readonly pgBoss: (count: number) => Promise<number>;
}

export interface GraphileSettings {
  readonly count: number;
  /** A queue for each contract, of five jobs: they run one after the other. */
  readonly hasLines?: boolean;
  /** Takes so many at a time ahead. */
  readonly localQueueSize?: number;
}

export function installPeers(url: string): Peers {
  const folder = resolve(".tmp/peers");
  const { status } = spawnSync("bash", ["test/bench/jobs/install.sh", folder], { stdio: "inherit" });
  if (status !== 0) throw new Error("the queues that jobs are held against could not be installed");
  const load = createRequire(join(folder, "package.json"));
  return {
    graphile: (how) => runGraphile(load("graphile-worker") as GraphileWorker, url, how),
    pgBoss: (count) => runPgBoss(load("pg-boss") as new (url: string) => PgBoss, url, count),
  };
}

async function runGraphile(
  { run, runMigrations, Logger }: GraphileWorker,
  connectionString: string,
  { count, hasLines = false, localQueueSize }: GraphileSettings,
): Promise<number> {
  const logger = new Logger(() => () => undefined);
  await runMigrations({ connectionString, logger });
  const client = new Client({ connectionString });
  await client.connect();
  const queue = hasLines ? "'contract-' || (n / 5)" : "null";
  await client.query(
    `select count(graphile_worker.add_job('bench', json_build_object('id', n), queue_name := ${queue})) from generate_series(1, ${count}) as n`,
  );
  await client.end();
  const { take, done } = countdownOf(count);
  const taskList = { bench: async () => take(1) };
  let runner: Awaited<ReturnType<GraphileWorker["run"]>> | undefined;
  const preset =
    localQueueSize === undefined ? undefined : { worker: { localQueue: { size: localQueueSize } } };
  const each = await microsecondsEach(count, async () => {
    const options = { connectionString, logger, taskList, noHandleSignals: true };
    runner = await run({ ...options, concurrency, maxPoolSize: concurrency + 2, preset });
    await done;
  });
  await runner?.stop();
  return each;
}

/** Counts so many jobs down. */
function countdownOf(count: number) {
  let left = count;
  let finish: (() => void) | undefined;
  const done = new Promise<void>((resolve_) => (finish = resolve_));
  const take = (jobs: number): void => {
    left -= jobs;
    if (left <= 0) finish?.();
  };
  return { take, done };
}

async function runPgBoss(Boss: new (url: string) => PgBoss, url: string, count: number): Promise<number> {
  const boss = new Boss(url);
  boss.on("error", () => undefined);
  await boss.start();
  await boss.createQueue("bench");
  await boss.insert(Array.from({ length: count }, (_, id) => ({ name: "bench", data: { id } })));
  const { take, done } = countdownOf(count);
  const handle = async (jobs: object[]): Promise<void> => take(jobs.length);
  const each = await microsecondsEach(count, async () => {
    for (let worker = 0; worker < concurrency; worker++) await boss.work("bench", handle);
    await done;
  });
  await boss.stop({ graceful: false });
  return each;
}
