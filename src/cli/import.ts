import process from "node:process";
import type { Command } from "commander";
import type { Imported, ImportProgress } from "../reconcile/import-contracts.ts";
import { storeCommand, withPace, type PaceFlags } from "./lib/command.ts";
import { counted } from "./lib/counted.ts";
import { exitCodes, Misuse, orExplain } from "./lib/explain.ts";
import { failureLines } from "./lib/failures.ts";
import { readInput } from "./lib/input.ts";
import { needClient, untilStopped, withMirror } from "./lib/open.ts";
import { note, print, printJson } from "./lib/print.ts";
import { createProgress } from "./lib/progress.ts";
import type { StoreFlags } from "./lib/stores.ts";

interface Flags extends StoreFlags, PaceFlags {
  readonly file?: string;
  readonly json?: boolean;
}

const more = `Use it for contracts that no webhook has named: those from before the mirror was installed, and those that
others created while the subscription was disabled. The ids come from your own database, because the service
has no list. A contract that is in the mirror already is read again.

One contract that fails does not stop the others. If the command is interrupted, run it again.

Exit codes: 0 all were read, 1 some failed.`;

/** `escrow-mirror contracts import`: reads many contracts from the service. */
export function importCommand(): Command {
  const command = storeCommand({
    name: "import",
    description: "Read many contracts from the service's API into the mirror.",
    examples: [
      ["contracts import CNT-17 CNT-18", "these two"],
      ["contracts import --file ids.txt", "every id in a file, one a line"],
      ["contracts import --file - < ids.txt", "the same from standard input"],
    ],
    more,
  })
    .argument("[contract...]", "the contracts' ids")
    .option("--file <file>", "a file with one id a line; - is standard input");
  return withPace(command).action((ids: string[], flags: Flags) =>
    orExplain(() => importContracts(ids, flags)),
  );
}

async function importContracts(given: readonly string[], flags: Flags): Promise<void> {
  const ids = [...new Set([...given, ...idsIn(flags.file)])];
  if (ids.length === 0 && flags.file === undefined)
    throw new Misuse("Which contracts? Give their ids, or a file of ids with --file.");
  const { concurrency, perSecond: perSecondMax } = flags;
  const progress = createProgress();
  const onProgress = ({ imported, failed }: ImportProgress): void =>
    progress.tell(
      `${(imported + failed).toLocaleString("en")} of ${counted(ids.length, "contract")} read, ${failed} failed`,
    );
  const client = needClient(flags);
  const done = await withMirror(
    flags,
    ({ contracts }) =>
      untilStopped(
        (signal) =>
          contracts
            .import(ids, { concurrency, perSecondMax, onProgress, signal })
            .finally(() => progress.end()),
        "Imported contracts stay imported; run the command again for the rest.",
      ),
    client,
  );
  await (flags.json === true ? printJson(done) : printResult(done));
  if (done.failed > 0) process.exitCode = exitCodes.failed;
}

/** One id a line. Blank lines, and the mark of UTF-8 that some editors write, are passed over. */
function idsIn(file: string | undefined): string[] {
  if (file === undefined) return [];
  const text = readInput(file, "--file")
    .toString("utf8")
    .replace(/^\uFEFF/, "");
  return text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
}

async function printResult({ imported, failed, failures }: Imported): Promise<void> {
  await print([`${counted(imported, "contract")} imported, ${failed} failed`, ...failureLines(failures)]);
  if (failures.length < failed)
    note(
      `Only the first ${counted(failures.length, "failure")} of ${failed.toLocaleString("en")} are shown.`,
    );
}
