import { existsSync } from "node:fs";
import process from "node:process";
import { type Command } from "commander";
import { isEscrowMirrorError } from "../shared/errors.ts";
import { filePathAdvice, looksLikeAddress } from "../shared/file-path.ts";
import { copyStore, type Compared, type CopyProgress } from "../copy/copy-store.ts";
import type { Store } from "../store/store.ts";
import { command, withJson } from "./lib/command.ts";
import { counted } from "./lib/counted.ts";
import { exitCodes, Misuse, orExplain } from "./lib/explain.ts";
import {
  existingStoreAt,
  hasPassword,
  opened,
  placeOf,
  storeAt,
  withPlaceOptions,
  type StoreFlags,
} from "./lib/stores.ts";

interface Flags extends Omit<StoreFlags, "store"> {
  readonly from: string;
  readonly fromPrefix?: string;
  readonly to?: string;
  readonly json?: boolean;
}

const more = `In this order: run it while the app still receives; stop the app; run it again for the deliveries that
came meanwhile; start the app on the new database. A run that was interrupted goes on where it stopped.

At the end it compares both sides by counts and hashes. Rows that changed meanwhile are copied again.
The source is only read. When an app has received on the new database, the command refuses to run: it would
overwrite new deliveries. --schema and --prefix are those of the new database.

The comparison goes to standard output, progress to standard error. --json prints one line:
  {"equal":true,"tables":[{"table":"contracts","rows":120,"equal":true}, …]}

Exit codes: 0 both sides are equal, 1 they are not, or the copy failed (the message says why).`;

/** `escrow-mirror copy`: moves a mirror into another database. */
export function copyCommand(): Command {
  const copy = command({
    name: "copy",
    description: "Copy a mirror into another database, such as from SQLite to Postgres.",
    examples: [["copy --from sqlite:escrow.db --to postgres://app@db/shop", "the password is in PGPASSWORD"]],
    more,
  })
    .requiredOption("--from <address>", "sqlite:<file>")
    .option("--from-prefix <text>", "before each table's name in the source (default: escrow_)")
    .option(
      "--to <address>",
      "postgres://… (default: ESCROW_MIRROR_STORE, else escrow-mirror.json, else DATABASE_URL)",
    );
  return withJson(withPlaceOptions(copy)).action((flags: Flags) => orExplain(() => runCopy(flags)));
}

async function runCopy(flags: Flags): Promise<void> {
  const source = await openSource(flags);
  try {
    const place = placeOf({ ...flags, store: flags.to }, "--to");
    const compared = await copyInto(await opened(storeAt(place), "auto"), source);
    process.stdout.write(flags.json === true ? toJson(compared) : toText(compared));
    if (!isEqual(compared)) process.exitCode = exitCodes.failed;
  } finally {
    await source.close();
  }
}

/** Opens the source without any change to it: its app may use another release of this package. */
async function openSource({ from, fromPrefix }: Flags): Promise<Store> {
  if (hasPassword(from))
    throw new Misuse("--from has a password, which others can see: leave it out and set PGPASSWORD.");
  const file = from.startsWith("sqlite:") ? from.slice("sqlite:".length) : undefined;
  if (file !== undefined && looksLikeAddress(file)) throw new Misuse(`--from: ${filePathAdvice}.`);
  if (file !== undefined && !existsSync(file)) throw new Error(`There is no file ${file} to copy from.`);
  try {
    return await opened(existingStoreAt({ address: from, schema: undefined, prefix: fromPrefix }), "check");
  } catch (error) {
    if (!isEscrowMirrorError(error, "schema-version")) throw error;
    const prefix = fromPrefix === undefined ? "" : ` --prefix ${fromPrefix}`;
    const address = file === undefined ? "<the source>" : from;
    throw new Error(
      `${error.message} This is the source: the copy never changes it. If its version is older, back it up, run escrow-mirror migrate --store ${address}${prefix}, then copy.`,
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
      `${equal ? "equal  " : "DIFFERS"}  ${table.padEnd(15)}${counted(rows, "row")}\n`,
  );
  return lines.join("");
}

function toJson(compared: readonly Compared[]): string {
  return `${JSON.stringify({ equal: isEqual(compared), tables: compared })}\n`;
}

/** Prints a line at the first page of a table, and then at most one a second. */
function createPrint(): (progress: CopyProgress) => void {
  let last = { step: "", at: 0 };
  return ({ table, doing, rows }) => {
    const step = `${doing} ${table}`;
    if (step === last.step && Date.now() - last.at < 1000) return;
    last = { step, at: Date.now() };
    process.stderr.write(`${step}: ${counted(rows, "row")}\n`);
  };
}
