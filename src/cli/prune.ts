import type { Command } from "commander";
import type { Pruned } from "../retention/prune-options.ts";
import { storeCommand } from "./lib/command.ts";
import { counted } from "./lib/counted.ts";
import { Misuse, orExplain } from "./lib/explain.ts";
import { untilStopped, withMirror } from "./lib/open.ts";
import { print, printJson } from "./lib/print.ts";
import { createProgress } from "./lib/progress.ts";
import type { StoreFlags } from "./lib/stores.ts";
import { readAge } from "./lib/values.ts";

interface Flags extends StoreFlags {
  readonly payloads?: number;
  readonly jobs?: number;
  readonly quarantine?: number;
  readonly json?: boolean;
}

const more = `The mirror stays as it is: late events are still applied, and duplicates are still recognised. A quarantined
delivery keeps its body until it is dismissed or released. A delivery with an open job keeps its body until the
job has run. The command may run while the app receives. If it is interrupted, run it again.`;

/** `escrow-mirror prune`: deletes old bodies, old jobs and dismissed deliveries. */
export function pruneCommand(): Command {
  return storeCommand({
    name: "prune",
    description: "Delete old bodies and headers, jobs that ended, and what was dismissed.",
    examples: [
      ["prune --payloads 90d --jobs 30d --quarantine 30d", "once a day, from cron"],
      ["prune --payloads 90d", "only bodies and headers"],
    ],
    more,
  })
    .option("--payloads <age>", "bodies and headers that are older than this: 30d, 12h", readAge)
    .option("--jobs <age>", "done and dead jobs that ended longer ago", readAge)
    .option("--quarantine <age>", "bodies of dismissed deliveries that are older", readAge)
    .action((flags: Flags) => orExplain(() => runPrune(flags)));
}

async function runPrune(flags: Flags): Promise<void> {
  const { payloads, jobs, quarantine } = flags;
  if (payloads === undefined && jobs === undefined && quarantine === undefined)
    throw new Misuse("Delete what? Give --payloads, --jobs or --quarantine with an age, such as 90d.");
  const progress = createProgress();
  const onProgress = (pruned: Pruned): void => progress.tell(toLines(pruned).join(", "));
  const pruned = await withMirror(flags, (mirror) =>
    untilStopped(
      (signal) =>
        mirror.prune({ payloads, jobs, quarantine, onProgress, signal }).finally(() => progress.end()),
      "Deleted rows stay deleted; run the command again for the rest.",
    ),
  );
  await (flags.json === true ? printJson(pruned) : print(toLines(pruned)));
}

function toLines({ payloads, partitions, jobs, quarantine }: Pruned): string[] {
  return [
    ...partitions.map((name) => `dropped ${name}`),
    `${counted(payloads, "body", "bodies")} deleted`,
    `${counted(jobs, "job")} deleted`,
    `${counted(quarantine, "dismissed body", "dismissed bodies")} deleted`,
  ];
}
