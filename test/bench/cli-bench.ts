/**
 * Commands against the same queries by hand, on a large SQLite file. Both open the file and prepare their statements anew, as
 * a new process does. The start, which opens the file and asks one thing, is taken off both.
 */
import { join } from "node:path";
import Database from "better-sqlite3";
import { createProgram } from "../../src/cli/program.ts";
import { filledContractId } from "../support/fill.ts";
import { fillSqlite } from "./reads-stores.ts";
import { atMost, microsecondsEach, withFolder, type Figure } from "./stopwatch.ts";

/** Each case is repeated for so long, and at least so often. */
const caseMs = 3000;
const roundsMin = 3;

/** A command line, and the statements that answer the same question. */
interface Case {
  readonly line: readonly string[];
  readonly sql: readonly string[];
}

const id = filledContractId(7003);
const ofContract = `where contract_id = '${id}'`;

const cases: readonly Case[] = [
  {
    line: ["status", "--json"],
    sql: [
      "select status, count(*) from escrow_contracts group by status",
      "select count(*) from (select 1 from escrow_deliveries where outcome = 'quarantined' and reason is not null limit 10000)",
      ...["due", "waiting", "running", "dead"].map(
        (state) => `select count(*) from (select 1 from escrow_jobs where state = '${state}' limit 1000)`,
      ),
      "select * from escrow_refunds where state = 'initiated' order by initiated_key limit 501",
      "select received_at from escrow_deliveries order by seq desc limit 1",
    ],
  },
  {
    line: ["contracts", "show", id],
    sql: [
      ...["contracts", "milestones", "refunds", "payments", "disputes", "anomalies", "transitions"].map(
        (table) => `select * from escrow_${table} ${ofContract}`,
      ),
      `select * from escrow_deliveries ${ofContract} and outcome = 'quarantined'`,
      `select * from escrow_jobs ${ofContract} and last_error is not null`,
    ],
  },
  {
    line: ["deliveries", "list"],
    sql: ["select * from escrow_deliveries order by received_at desc, seq desc"],
  },
  {
    line: ["jobs", "list", "--state", "dead"],
    sql: ["select * from escrow_jobs where state = 'dead' order by created_at desc, seq desc"],
  },
];

/** @param stored how many deliveries the store holds */
export function benchCli(stored: number): Promise<Figure[]> {
  return withFolder(async (folder) => {
    const path = join(folder, "escrow.db");
    await (await fillSqlite(path, stored)).close();
    const figures: Figure[] = [];
    for (const each of cases) figures.push(await benchCase(each, path, stored));
    return figures;
  });
}

async function benchCase({ line, sql }: Case, path: string, stored: number): Promise<Figure> {
  const store = ["--store", `sqlite:${path}`];
  const [start, command, startByHand, byHand] = await shortest([
    () => typed([...nothing, ...store]),
    () => typed([...line, ...store]),
    () => asked(path, [nothingByHand]),
    () => asked(path, sql),
  ]);
  const work = Math.max(0, command - start);
  const workByHand = Math.max(1, byHand - startByHand);
  return atMost(2, {
    what: `escrow-mirror ${line.join(" ")} on SQLite with ${stored.toLocaleString("en")} deliveries`,
    measured: `${milliseconds(work)}, and ${milliseconds(start)} to open the store`,
    against: `the same queries by hand, written as JSON: ${milliseconds(workByHand)}, and ${milliseconds(startByHand)} to open the file`,
    ratio: work / workByHand,
  });
}

/**
 * The shortest time of each work. A command that opens for ten milliseconds and works for one is measured by a difference:
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

const nothingByHand = "select * from escrow_jobs where handler = 'nobody'";

/** The same by hand. */
function asked(path: string, sql: readonly string[]): void {
  const database = new Database(path);
  for (const statement of sql)
    for (const row of database.prepare(statement).iterate()) written += JSON.stringify(row).length;
  database.close();
}

let written = 0;

/** With standard output that takes everything and shows nothing. */
async function typed(values: readonly string[]): Promise<void> {
  const write = process.stdout.write.bind(process.stdout);
  const note = process.stderr.write.bind(process.stderr);
  process.stdout.write = process.stderr.write = (text) => (written += String(text).length) > 0;
  try {
    await createProgram().parseAsync(values, { from: "user" });
  } finally {
    process.stdout.write = write;
    process.stderr.write = note;
    process.exitCode = undefined;
  }
}
