import { existsSync } from "node:fs";
import process from "node:process";
import { Command } from "commander";
import { isEscrowMirrorError } from "../shared/errors.ts";
import { filePathAdvice, looksLikeAddress } from "../shared/file-path.ts";
import { copyStore, type Compared, type CopyProgress } from "../copy/copy-store.ts";
import type { Store } from "../store/store.ts";
import { counted } from "./counted.ts";
import { orExplain } from "./explain.ts";
import { openStore, withStoreOptions, type StoreFlags } from "./stores.ts";

interface Flags extends StoreFlags {
  readonly from: string;
  readonly fromPrefix?: string;
  readonly to?: string;
  readonly json?: boolean;
}

const copyHelp = `

Run it while the app still receives, then stop the app, run it once more for what came meanwhile,
and start the app on the new database. It goes on where it was interrupted, and ends by comparing
both sides, by counts and hashes; rows that changed meanwhile are written again. The source is only
read. Once an app receives on the new database it is refused, so that what came there is not taken
back. --schema and --prefix are of the database copied into.

The comparison goes to standard output, progress to standard error. --json prints one line:
  {"equal":true,"tables":[{"table":"contracts","rows":120,"equal":true}, …]}

Exit codes: 0 both sides are equal, 1 they are not, or something failed (the message says what).`;

/** `escrow-mirror copy`: moves a mirror into another database. */
export function copyCommand(): Command {
  const command = new Command("copy")
    .description("Copy a mirror into another database, such as from SQLite to Postgres.")
    .requiredOption("--from <address>", "sqlite:<file>")
    .option("--from-prefix <text>", "before each table's name in the source (default: escrow_)")
    .option("--to <address>", "postgres://… (default: DATABASE_URL)")
    .option("--json", "print the comparison as one JSON object");
  return withStoreOptions(command, copyHelp).action((flags: Flags) => orExplain(() => runCopy(flags)));
}

async function runCopy(flags: Flags): Promise<void> {
  const source = await openSource(flags);
  try {
    const compared = await copyInto(await openStore(flags.to, flags, { option: "--to" }), source);
    process.stdout.write(flags.json === true ? toJson(compared) : toText(compared));
    if (!isEqual(compared)) process.exitCode = 1;
  } finally {
    await source.close();
  }
}

/** Nothing is made or migrated in it: the app that it belongs to may be of another release. */
async function openSource({ from, fromPrefix }: Flags): Promise<Store> {
  const file = from.startsWith("sqlite:") ? from.slice("sqlite:".length) : undefined;
  if (file !== undefined && looksLikeAddress(file)) throw new Error(`--from: ${filePathAdvice}.`);
  if (file !== undefined && !existsSync(file)) throw new Error(`There is no file ${file} to copy from.`);
  try {
    return await openStore(from, { prefix: fromPrefix }, { migrate: "check" });
  } catch (error) {
    if (!isEscrowMirrorError(error, "schema-version")) throw error;
    const prefix = fromPrefix === undefined ? "" : ` --prefix ${fromPrefix}`;
    const address = file === undefined ? "<the source>" : from;
    throw new Error(
      `${error.message} This is the source, in which copying changes nothing. If its version is the older: back it up, run escrow-mirror migrate --store ${address}${prefix}, then copy.`,
      { cause: error },
    );
  }
}

async function copyInto(target: Store, source: Store): Promise<Compared[]> {
  try {
    return await copyStore(source, target, { onProgress: createPrint() });
  } finally {
    await target.close();
  }
}

function isEqual(compared: readonly Compared[]): boolean {
  return compared.every(({ equal }) => equal);
}

function toText(compared: readonly Compared[]): string {
  const lines = compared.map(
    ({ table, rows, equal }) =>
      `${equal ? "equal  " : "DIFFERS"}  ${table.padEnd(14)}${counted(rows, "row")}\n`,
  );
  return lines.join("");
}

function toJson(compared: readonly Compared[]): string {
  return `${JSON.stringify({ equal: isEqual(compared), tables: compared })}\n`;
}

/** A line at the first page of a table and at most one a second after that. */
function createPrint(): (progress: CopyProgress) => void {
  let last = { step: "", at: 0 };
  return ({ table, doing, rows }) => {
    const step = `${doing} ${table}`;
    if (step === last.step && Date.now() - last.at < 1000) return;
    last = { step, at: Date.now() };
    process.stderr.write(`${step}: ${counted(rows, "row")}\n`);
  };
}
