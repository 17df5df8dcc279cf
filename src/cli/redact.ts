import type { Command } from "commander";
import { storeCommand } from "./lib/command.ts";
import { eachId } from "./lib/each-id.ts";
import { orExplain } from "./lib/explain.ts";
import { withMirror } from "./lib/open.ts";
import type { StoreFlags } from "./lib/stores.ts";

interface Flags extends StoreFlags {
  readonly json?: boolean;
}

const more = `Bodies, headers, references, metadata, texts, names and errors of jobs go for good. Ids, statuses, times and
amounts stay. It can't be undone. An unknown contract is marked too: its data is never stored.`;

// A spelling mistake must not pass for an erased buyer.
const unknown =
  ". But the mirror knows no contract of this id. Is it right? escrow-mirror contracts list shows the ids";

/** `escrow-mirror redact`: erases the personal data of contracts. */
export function redactCommand(): Command {
  return storeCommand({
    name: "redact",
    description: "Erase the personal data of contracts. It can't be undone.",
    examples: [["redact CNT-17", "a buyer asks to be forgotten"]],
    more,
  })
    .argument("<contract...>", "the contracts' ids")
    .action((ids: string[], flags: Flags) => orExplain(() => redactContracts(ids, flags)));
}

function redactContracts(ids: readonly string[], flags: Flags): Promise<void> {
  return withMirror(flags, (mirror) =>
    eachId(ids, flags, async (id) => {
      const { bytesGone, known } = await mirror.redact(id);
      const files = bytesGone
        ? "the bytes are gone from the file, too"
        : "bytes are still in the database's files: on SQLite run it again, on Postgres see the guide";
      return { fields: { bytesGone, known }, text: `${id} is redacted; ${files}${known ? "" : unknown}` };
    }),
  );
}
