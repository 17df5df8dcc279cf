/**
 * Commands against the same queries by hand, on a large SQLite file and on Postgres. The start is not counted: short work is
 * done on an open store, by hand with prepared statements. Off a long command one is taken that opens the store and finds
 * nothing, and off the queries by hand a connection that asks one thing.
 */
import { join } from "node:path";
import Database from "better-sqlite3";
import { Client } from "pg";
import { loadCase } from "../../src/cli/case/case.ts";
import { printJobs } from "../../src/cli/jobs.ts";
import { createProgram } from "../../src/cli/program.ts";
import { readStatus } from "../../src/cli/status.ts";
import { createMirror, type Mirror } from "../../src/index.ts";
import { postgres } from "../../src/postgres.ts";
import { readsIn } from "../../src/queries/reads.ts";
import { silentLogger } from "../../src/shared/logger.ts";
import { sqlite } from "../../src/sqlite.ts";
import type { Store } from "../../src/store/store.ts";
import { filledContractId } from "../support/fill.ts";
import { createServerOfOurs } from "../support/postgres-server.ts";
import { fillPostgres, fillSqlite } from "./reads-stores.ts";
import { atMost, microsecondsEach, withFolder, type Figure } from "./stopwatch.ts";

/** Each case is repeated for so long, and at least so often. */
const caseMs = 3000;
const roundsMin = 3;

/** A store with rows, seen by the command and by hand. */
interface Site {
  readonly name: string;
  readonly stored: number;
  /** Its address, for the environment: it may have a password. */
  readonly address: string;
  /** Further options that name it. */
  readonly flags: readonly string[];
  readonly table: (name: string) => string;
  readonly store: () => Store;
  readonly connect: () => Promise<Connection>;
}

/** A connection by hand. It prepares each statement once. */
interface Connection {
  /** Writes the rows as JSON. */
  readonly ask: (sql: string) => unknown;
  readonly close: () => unknown;
}

/** A command line, and the statements that answer the same question. */
interface Case {
  readonly line: string;
  readonly sql: readonly string[];
}

/** Commands that take no longer than opening a store: theirs is the work on an open one. */
interface OpenCase extends Case {
  readonly run: (open: Opened) => unknown;
}

interface Opened {
  readonly mirror: Mirror;
  readonly store: Store;
}

const id = filledContractId(7003);

function openCasesOf({ table, address }: Site): readonly OpenCase[] {
  return [
    {
      line: `contracts show ${id} --json`,
      sql: sqlOfOneContract(table),
      run: async ({ store }) => {
        const found = await store.read((reader) => loadCase(readsIn(reader), id));
        written += JSON.stringify(found).length;
      },
    },
    {
      line: "status --json",
      sql: sqlOfStatus(table),
      run: async ({ mirror, store }) => {
        const place = { address, store, schema: undefined, prefix: undefined };
        written += JSON.stringify(await readStatus(mirror, undefined, place)).length;
      },
    },
    {
      line: "jobs list --state dead",
      sql: [`select * from ${table("jobs")} where state = 'dead' order by created_at desc, seq desc`],
      run: ({ mirror }) => unseen(() => printJobs(mirror.jobs, { state: "dead" })),
    },
  ];
}

function longCaseOf(table: Site["table"]): Case {
  const sql = [`select * from ${table("deliveries")} order by received_at desc, seq desc`];
  return { line: "deliveries list", sql };
}

function sqlOfStatus(table: Site["table"]): string[] {
  return [
    `select status, count(*) from ${table("contracts")} group by status`,
    `select count(*) from (select 1 from ${table("deliveries")} where outcome = 'quarantined' and reason is not null limit 10000) as found`,
    ...["due", "waiting", "running", "dead"].map(
      (state) =>
        `select count(*) from (select 1 from ${table("jobs")} where state = '${state}' limit 1000) as found`,
    ),
    `select * from ${table("refunds")} where state = 'initiated' order by initiated_key limit 501`,
    `select received_at from ${table("deliveries")} order by seq desc limit 1`,
  ];
}

function sqlOfOneContract(table: Site["table"]): string[] {
  const ofContract = `where contract_id = '${id}'`;
  return [
    ...["contracts", "milestones", "refunds", "payments", "disputes", "anomalies", "transitions"].map(
      (name) => `select * from ${table(name)} ${ofContract}`,
    ),
    `select * from ${table("deliveries")} ${ofContract} and outcome = 'quarantined'`,
    `select * from ${table("jobs")} ${ofContract} and last_error is not null`,
  ];
}

/** @param stored how many deliveries each store holds */
export async function benchCli(stored: number): Promise<Figure[]> {
  const onSqlite = await withFolder(async (folder) => {
    const path = join(folder, "escrow.db");
    await (await fillSqlite(path, stored)).close();
    return benchSite(sqliteSite(path, stored));
  });
  const server = await createServerOfOurs();
  try {
    await (await fillPostgres(server.url, "bench", stored)).close();
    return [...onSqlite, ...(await benchSite(postgresSite(server.url, "bench", stored)))];
  } finally {
    await server.remove();
  }
}

/** @param path a file that was filled with so many deliveries */
export function sqliteSite(path: string, stored: number): Site {
  return {
    name: "SQLite",
    stored,
    address: `sqlite:${path}`,
    flags: [],
    table: (name) => `escrow_${name}`,
    store: () => sqlite(path),
    connect: async () => connectSqlite(path),
  };
}

function connectSqlite(path: string): Connection {
  const database = new Database(path);
  const prepared = new Map<string, Database.Statement<[]>>();
  return {
    ask: (sql) => {
      const statement = prepared.get(sql) ?? database.prepare<[]>(sql);
      prepared.set(sql, statement);
      for (const row of statement.iterate()) written += JSON.stringify(row).length;
    },
    close: () => database.close(),
  };
}

/** @param schema a schema that was filled with so many deliveries */
export function postgresSite(url: string, schema: string, stored: number): Site {
  return {
    name: "Postgres",
    stored,
    address: url,
    flags: ["--schema", schema],
    table: (name) => `${schema}.${name}`,
    store: () => postgres({ connectionString: url, schema }),
    connect: () => connectPostgres(url),
  };
}

async function connectPostgres(url: string): Promise<Connection> {
  const client = new Client({ connectionString: url });
  await client.connect();
  const names = new Map<string, string>();
  return {
    ask: async (text) => {
      const name = names.get(text) ?? `by-hand-${names.size}`;
      names.set(text, name);
      for (const row of (await client.query<object>({ name, text })).rows)
        written += JSON.stringify(row).length;
    },
    close: () => client.end(),
  };
}

export async function benchSite(site: Site): Promise<Figure[]> {
  process.env["ESCROW_MIRROR_STORE"] = site.address;
  return [...(await benchOpen(site)), await benchLong(longCaseOf(site.table), site)];
}

async function benchOpen(site: Site): Promise<Figure[]> {
  const store = site.store();
  const mirror = await createMirror({ store, migrate: "check", jobs: { run: false }, logger: silentLogger });
  const byHand = await site.connect();
  const figures: Figure[] = [];
  for (const { line, sql, run } of openCasesOf(site)) {
    const [command, hand] = await shortest([() => run({ mirror, store }), () => askAll(byHand, sql)]);
    figures.push(
      atMost(2, {
        what: whatOf(line, site),
        measured: `${milliseconds(command)} on an open store`,
        against: `the same queries by hand, written as JSON: ${milliseconds(hand)} on an open connection`,
        ratio: command / hand,
      }),
    );
  }
  await byHand.close();
  await mirror.close();
  return figures;
}

function whatOf(line: string, { name, stored }: Site): string {
  return `escrow-mirror ${line} on ${name} with ${stored.toLocaleString("en")} deliveries`;
}

async function benchLong({ line, sql }: Case, site: Site): Promise<Figure> {
  const [start, command, startByHand, byHand] = await shortest([
    () => typed([...nothing, ...site.flags]),
    () => typed([...line.split(" "), ...site.flags]),
    () => asked(site, [`select * from ${site.table("jobs")} where handler = 'nobody'`]),
    () => asked(site, sql),
  ]);
  const work = Math.max(0, command - start);
  const workByHand = Math.max(1, byHand - startByHand);
  return atMost(2, {
    what: whatOf(line, site),
    measured: `${milliseconds(work)}, and ${milliseconds(start)} to open the store`,
    against: `the same queries by hand, written as JSON: ${milliseconds(workByHand)}, and ${milliseconds(startByHand)} to connect`,
    ratio: work / workByHand,
  });
}

/**
 * The shortest time of each work. A command that opens for some milliseconds and works for as long is measured by a difference:
 * medians of a busy machine would drown it.
 */
async function shortest<const Works extends readonly (() => unknown)[]>(
  works: Works,
): Promise<{ [At in keyof Works]: number }> {
  const least = works.map(() => Infinity);
  const until = performance.now() + caseMs;
  for (let round = 0; round < roundsMin || performance.now() < until; round++)
    for (const [at, work] of works.entries())
      least[at] = Math.min(least[at] as number, await microsecondsEach(1, work));
  return least as { [At in keyof Works]: number };
}

function milliseconds(value: number): string {
  return `${(value / 1000).toFixed(2)} ms`;
}

/** A command that opens the store and finds nothing. */
const nothing = ["jobs", "list", "--handler", "nobody"];

/** The same by hand, on a connection of its own. */
async function asked(site: Site, sql: readonly string[]): Promise<void> {
  const connection = await site.connect();
  await askAll(connection, sql);
  await connection.close();
}

async function askAll({ ask }: Connection, sql: readonly string[]): Promise<void> {
  for (const statement of sql) await ask(statement);
}

let written = 0;

function typed(values: readonly string[]): Promise<unknown> {
  return unseen(() => createProgram().parseAsync(values, { from: "user" }));
}

/** With standard output that takes everything and shows nothing. */
async function unseen(work: () => Promise<unknown>): Promise<void> {
  const write = process.stdout.write.bind(process.stdout);
  const note = process.stderr.write.bind(process.stderr);
  process.stdout.write = process.stderr.write = (text) => (written += String(text).length) > 0;
  try {
    await work();
  } finally {
    process.stdout.write = write;
    process.stderr.write = note;
    process.exitCode = undefined;
  }
}
