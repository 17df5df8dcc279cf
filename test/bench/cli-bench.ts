/** Commands against the same queries by hand, on a large SQLite file. The start, which opens the store, is not counted. */
import { join } from "node:path";
import Database from "better-sqlite3";
import { createProgram } from "../../src/cli/program.ts";
import { filledContractId } from "../support/fill.ts";
import { fillSqlite } from "./reads-stores.ts";
import { atMost, median, microsecondsEach, withFolder, type Figure } from "./stopwatch.ts";

const rounds = 5;

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
  const times = { start: [] as number[], command: [] as number[], byHand: [] as number[] };
  const database = new Database(path, { readonly: true });
  const store = ["--store", `sqlite:${path}`];
  for (let round = 0; round <= rounds; round++) {
    const start = await microsecondsEach(1, () => typed([...nothing, ...store]));
    const command = await microsecondsEach(1, () => typed([...line, ...store]));
    const byHand = await microsecondsEach(1, () => asked(database, sql));
    // The first round only warms up.
    if (round === 0) continue;
    times.start.push(start);
    times.command.push(command);
    times.byHand.push(byHand);
  }
  database.close();
  const start = median(times.start);
  const command = Math.max(0, median(times.command) - start);
  const byHand = median(times.byHand);
  return atMost(2, {
    what: `escrow-mirror ${line.join(" ")} on SQLite with ${stored.toLocaleString("en")} deliveries`,
    measured: `${(command / 1000).toFixed(1)} ms, and ${(start / 1000).toFixed(1)} ms to open the store`,
    against: `the same queries by hand, written as JSON: ${(byHand / 1000).toFixed(1)} ms`,
    ratio: command / byHand,
  });
}

/** A command that opens the store and finds nothing. */
const nothing = ["jobs", "list", "--handler", "nobody"];

function asked(database: Database.Database, sql: readonly string[]): void {
  for (const statement of sql)
    for (const row of database.prepare(statement).iterate()) written += JSON.stringify(row).length;
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
