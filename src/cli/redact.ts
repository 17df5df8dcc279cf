import type { Command } from "commander";
import { storeCommand } from "./lib/command.ts";
import { eachId } from "./lib/each-id.ts";
import { orExplain } from "./lib/explain.ts";
import { withMirror } from "./lib/open.ts";
import type { StoreFlags } from "./lib/stores.ts";

interface Flags extends StoreFlags {
  readonly json?: boolean;
}

const more = `It deletes bodies, headers, references, metadata, texts, names and the errors of jobs. Ids, statuses, times
and amounts stay. No later webhook, API read or rebuild brings the data back. An id that the mirror does not
know is marked too: its personal data will never be stored.`;

// After a spelling mistake nobody may believe that the buyer is erased.
const unknown =
  " But the mirror knows no contract with this id. Is it spelled right? escrow-mirror contracts list shows the ids.";

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
        ? "The bytes are gone from the file, too."
        : "Bytes are still in the files of the database: on SQLite run the command again, on Postgres see the guide.";
      return { fields: { bytesGone, known }, text: `${id} is redacted. ${files}${known ? "" : unknown}` };
    }),
  );
}
