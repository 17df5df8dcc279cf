import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import Database from "better-sqlite3";
import { build } from "esbuild";
import { connections, installWrk, load, prepareRequests, type Load } from "./http-load.ts";
import { atLeast, median, perSecond, withFolder, type Figure } from "./stopwatch.ts";

/** The share of the bare server's requests a second that an adapter with its mirror is to reach. */
const targets = { express: 0.7, hono: 0.35, fastify: 0.3 };
const seconds = 2;
/** One more, which warms up, comes first. */
const rounds = 5;
/** More than are sent in a round; the bare servers, which look at none of it, start over. */
const perRound = 15_000 * seconds;

/**
 * Signed deliveries over HTTP, each another one, into Express, Hono and Fastify with the mirror on SQLite FULL, against
 * the same framework reading the body and answering. Round by round, one after the other, each server a process of its
 * own and the load another.
 */
export async function benchHttp(): Promise<Figure[]> {
  await installWrk();
  return withFolder(async (folder) => {
    const files = await prepareRounds(folder);
    const contests = await openContests(folder);
    try {
      for (const file of files) for (const contest of contests) await compete(contest, file);
      return contests.map(toFigure);
    } finally {
      for (const { ours, bare } of contests) for (const { child } of [ours, bare]) child.disconnect();
    }
  });
}

async function prepareRounds(folder: string): Promise<string[]> {
  const files = Array.from({ length: rounds + 1 }, (_, round) => join(folder, `round-${round}`));
  for (const [round, file] of files.entries()) await prepareRequests(file, perRound, round * perRound);
  return files;
}

interface Server {
  readonly child: ChildProcess;
  readonly port: number;
}

interface Contest {
  readonly framework: keyof typeof targets;
  readonly ours: Server;
  readonly bare: Server;
  readonly database: string;
  readonly loads: { ours: Load; bare: Load }[];
}

async function openContests(folder: string): Promise<Contest[]> {
  const entry = await buildServer();
  const contests: Contest[] = [];
  for (const framework of Object.keys(targets) as Contest["framework"][]) {
    const database = join(folder, `${framework}.db`);
    const ours = await startServer(entry, framework, database);
    contests.push({ framework, database, ours, bare: await startServer(entry, framework), loads: [] });
  }
  return contests;
}

/** Built as the bench is, so that no loader runs beside the server. */
async function buildServer(): Promise<string> {
  const outfile = ".tmp/bench-http-server.mjs";
  const entryPoints = ["test/bench/http-server.ts"];
  await build({ entryPoints, outfile, bundle: true, platform: "node", format: "esm", packages: "external" });
  return outfile;
}

async function startServer(entry: string, ...args: string[]): Promise<Server> {
  const child = fork(entry, args, { env: { ...process.env, NODE_ENV: "production" }, execArgv: [] });
  const failed = once(child, "exit").then(([code]) => {
    throw new Error(`the server ended with ${code}`);
  });
  const [port] = (await Promise.race([once(child, "message"), failed])) as [number];
  failed.catch(() => {});
  return { child, port };
}

async function compete({ ours, bare, database, loads }: Contest, requests: string): Promise<void> {
  const theirs = await load({ port: bare.port, requests, seconds, again: true });
  const before = countDeliveries(database);
  const mine = await load({ port: ours.port, requests, seconds, again: false });
  expectApplied(mine.answered, countDeliveries(database) - before);
  loads.push({ ours: mine, bare: theirs });
}

/** At the end each connection may have one more under way, of which the answer is not waited for. */
function expectApplied(answered: number, applied: number): void {
  if (applied < answered || applied > answered + connections)
    throw new Error(`${answered} deliveries were answered 200, ${applied} are applied`);
}

/** Read from the file by another process than the one that wrote it. */
function countDeliveries(path: string): number {
  const database = new Database(path, { readonly: true });
  const count = "select count(*) from escrow_deliveries where outcome = 'applied' and attempts = 1";
  const applied = database.prepare<[], number>(count).pluck().get() ?? 0;
  database.close();
  return applied;
}

function toFigure({ framework, loads }: Contest): Figure {
  const counted = loads.slice(1);
  return atLeast(targets[framework], {
    what: `${framework}: deliveries over HTTP, ${connections} connections, SQLite FULL`,
    measured: describe(counted.map(({ ours }) => ours)),
    against: `the bare server: ${describe(counted.map(({ bare }) => bare))}`,
    ratio: median(counted.map(({ ours, bare }) => eachUs(bare) / eachUs(ours))),
  });
}

function describe(loads: readonly Load[]): string {
  const p99Ms = median(loads.map(({ p99Us }) => p99Us / 1000));
  return `${perSecond(median(loads.map(eachUs)))}, p99 ${p99Ms.toFixed(1)} ms`;
}

function eachUs({ answered, tookUs }: Load): number {
  return tookUs / answered;
}
