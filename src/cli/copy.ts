import process from "node:process";
import { Command } from "commander";
import { copyStore, type CopyProgress } from "../store/copy.ts";
import { openStore, orExplain, storeHelp } from "./stores.ts";

interface Flags {
  from: string;
  to?: string;
  schema?: string;
  prefix?: string;
  fromPrefix?: string;
  secretsFile?: string;
}

const copyHelp = `${storeHelp}

Run it while the app still receives, then stop the app, run it once more for what came meanwhile, and start the app on
the new database. It goes on where it was interrupted, and ends by comparing both sides, row by row.
Exit codes: 0 both sides are equal, 1 they are not, or something failed (the message says what).`;

/** `escrow-mirror copy`: moves a mirror into another database. */
export function copyCommand(): Command {
  return new Command("copy")
    .description("Copy a mirror into another database, such as from SQLite to Postgres.")
    .requiredOption("--from <address>", "sqlite:<file>")
    .option("--to <address>", "postgres://… (default: DATABASE_URL)")
    .option("--schema <name>", "the schema to copy into (default: escrow_mirror)")
    .option("--prefix <text>", "before each table's name there (default: none)")
    .option("--from-prefix <text>", "before each table's name in the source (default: escrow_)")
    .option("--secrets-file <file>", "secrets as NAME=value lines")
    .addHelpText("after", copyHelp)
    .action((flags: Flags) => orExplain(() => runCopy(flags)));
}

async function runCopy(flags: Flags): Promise<void> {
  const source = await openStore(flags.from, { prefix: flags.fromPrefix });
  const target = await openStore(flags.to, flags);
  try {
    const compared = await copyStore(source, target, print);
    for (const { table, rows, equal } of compared)
      process.stdout.write(
        `${equal ? "equal  " : "DIFFERS"}  ${table.padEnd(14)}${rows.toLocaleString("en")} rows\n`,
      );
    if (compared.some(({ equal }) => !equal)) process.exitCode = 1;
  } finally {
    await source.close();
    await target.close();
  }
}

function print({ table, rows }: CopyProgress): void {
  process.stderr.write(`copied ${rows.toLocaleString("en")} rows of ${table}\n`);
}
