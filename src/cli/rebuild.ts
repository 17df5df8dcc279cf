import type { Command } from "commander";
import { storeCommand } from "./lib/command.ts";
import { counted } from "./lib/counted.ts";
import { orExplain } from "./lib/explain.ts";
import { untilStopped, withMirror } from "./lib/open.ts";
import { print, printJson } from "./lib/print.ts";
import { createProgress } from "./lib/progress.ts";
import type { StoreFlags } from "./lib/stores.ts";

interface Flags extends StoreFlags {
  readonly json?: boolean;
}

/** `escrow-mirror rebuild`: computes every contract again. */
export function rebuildCommand(): Command {
  return storeCommand({
    name: "rebuild",
    description: "Compute every contract again from the stored deliveries and API reads.",
    examples: [["rebuild", "after an upgrade whose changelog asks for it"]],
    more: "It may run while the app receives. No handler runs because of it.",
  }).action((flags: Flags) => orExplain(() => runRebuild(flags)));
}

async function runRebuild(flags: Flags): Promise<void> {
  const progress = createProgress();
  const onProgress = ({ done, total }: { done: number; total: number }): void =>
    progress.tell(`${done.toLocaleString("en")} of ${counted(total, "contract")}`);
  const { done } = await withMirror(flags, (mirror) =>
    untilStopped(
      (signal) => mirror.rebuild({ signal, onProgress }).finally(() => progress.end()),
      "Contracts that are rebuilt stay rebuilt. To rebuild all, run the command again: it starts anew.",
    ),
  );
  await (flags.json === true
    ? printJson({ rebuilt: done })
    : print([`${counted(done, "contract")} rebuilt`]));
}
