import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import Database from "better-sqlite3";
import { build } from "esbuild";
import { connections, installWrk, load, prepareRequests, type Load } from "./load.ts";
import { atLeast, median, perSecond, shown, withFolder, type Figure } from "../stopwatch.ts";

const frameworks = ["express", "hono", "fastify"] as const;
const seconds = 2;
/** One more, which warms up, comes first. */
const rounds = 5;
/** More than are sent in a round; the bare servers, which look at none of it, start over. */
const perRound = 15_000 * seconds;
/** What a server by hand has rows for. */
const rowsByHand = (rounds + 1) * perRound;

/**
 * Signed deliveries over HTTP, each another one, into Express, Hono and Fastify with the mirror on SQLite FULL, against
 * the same framework with a receiver written by hand. The bare framework, which reads the body and answers, is shown
 * beside it. Round by round, one after the other, each server a process of its own and the load another.
 */
export async function benchHttp(): Promise<Figure[]> {
  await installWrk();
  return withFolder(async (folder) => {
    const files = await prepareRounds(folder);
    const entry = await buildServer();
    const figures: Figure[] = [];
    for (const framework of frameworks) figures.push(...(await compete(framework, { entry, folder, files })));
    return figures;
  });
}

async function prepareRounds(folder: string): Promise<string[]> {
  const files = Array.from({ length: rounds + 1 }, (_, round) => join(folder, `round-${round}`));
  for (const [round, file] of files.entries()) await prepareRequests(file, perRound, round * perRound);
  return files;
}

type Framework = (typeof frameworks)[number];

interface Round {
  readonly bare: Load;
  readonly hand: Load;
  readonly ours: Load;
}

interface Course {
  readonly entry: string;
  readonly folder: string;
  readonly files: readonly string[];
}

async function compete(framework: Framework, { entry, folder, files }: Course): Promise<Figure[]> {
  const byHand = join(folder, `${framework}-by-hand.db`);
  const mirrored = join(folder, `${framework}.db`);
  const bare = await startServer(entry, framework, "bare");
  const hand = await startServer(entry, framework, "hand", byHand, String(rowsByHand));
  const ours = await startServer(entry, framework, "mirror", mirrored);
  try {
    const done: Round[] = [];
    for (const requests of files)
      done.push({
        bare: await load({ port: bare.port, requests, seconds, again: true }),
        hand: await loadAndCount(hand, byHand, requests),
        ours: await loadAndCount(ours, mirrored, requests),
      });
    return toFigures(framework, done.slice(1));
  } finally {
    for (const { child } of [bare, hand, ours]) child.disconnect();
  }
}

async function loadAndCount({ port }: Server, database: string, requests: string): Promise<Load> {
  const before = countDeliveries(database);
  const done = await load({ port, requests, seconds, again: false });
  expectApplied(done.answered, countDeliveries(database) - before);
  return done;
}

interface Server {
  readonly child: ChildProcess;
  readonly port: number;
}

/** Built as the bench is, so that no loader runs beside the server. */
async function buildServer(): Promise<string> {
  const outfile = ".tmp/bench-http-server.mjs";
  const entryPoints = ["test/bench/http/server.ts"];
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

function toFigures(framework: Framework, done: readonly Round[]): Figure[] {
  const what = `${framework}: deliveries over HTTP, ${connections} connections, SQLite FULL`;
  const measured = describe(done.map(({ ours }) => ours));
  return [
    atLeast(0.8, {
      what,
      measured,
      against: `by hand (signature, JSON.parse, the same rows in one transaction for all that wait): ${describe(done.map(({ hand }) => hand))}`,
      ratio: median(done.map(({ hand, ours }) => eachUs(hand) / eachUs(ours))),
    }),
    shown({
      what,
      measured,
      against: `the bare server, which reads and answers: ${describe(done.map(({ bare }) => bare))}`,
      ratio: median(done.map(({ bare, ours }) => eachUs(bare) / eachUs(ours))),
    }),
  ];
}

function describe(loads: readonly Load[]): string {
  const p99Ms = median(loads.map(({ p99Us }) => p99Us / 1000));
  return `${perSecond(median(loads.map(eachUs)))}, p99 ${p99Ms.toFixed(1)} ms`;
}

function eachUs({ answered, tookUs }: Load): number {
  return tookUs / answered;
}
