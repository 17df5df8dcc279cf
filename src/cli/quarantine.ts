import type { Command } from "commander";
import type { Mirror } from "../mirror/create-mirror.ts";
import type { QuarantinedDelivery } from "../queries/shapes.ts";
import { printDelivery, withBody } from "./deliveries.ts";
import { group, storeCommand, withLimit } from "./lib/command.ts";
import { eachId } from "./lib/each-id.ts";
import { orExplain } from "./lib/explain.ts";
import { pagesOf, printList, type ListFlags, type Listing } from "./lib/list.ts";
import { withMirror, withReads } from "./lib/open.ts";
import type { StoreFlags } from "./lib/stores.ts";
import { shown, shownTime } from "./lib/values.ts";

/** `escrow-mirror quarantine`. */
export function quarantineCommand(): Command {
  return group("quarantine", "Authentic deliveries that are stored and not applied.", [
    listCommand(),
    showCommand(),
    releaseCommand(),
    dismissCommand(),
  ]);
}

interface Flags extends StoreFlags, ListFlags {
  readonly dismissed?: boolean;
}

function listCommand(): Command {
  const command = storeCommand({
    name: "list",
    description: "List quarantined deliveries, newest first.",
    examples: [["quarantine list", "what waits for you"]],
  }).option("--dismissed", "the dismissed ones instead");
  return withLimit(command).action((flags: Flags) => orExplain(() => listQuarantined(flags)));
}

function listQuarantined(flags: Flags): Promise<void> {
  return withMirror(flags, async ({ quarantine }) => {
    const pages = pagesOf((page) => quarantine.list({ dismissed: flags.dismissed, ...page }));
    await printList(pages, quarantineListing, flags);
  });
}

const quarantineListing: Listing<QuarantinedDelivery> = {
  one: "quarantined delivery",
  many: "quarantined deliveries",
  columns: [
    { title: "RECEIVED", of: ({ receivedAt }) => shownTime(receivedAt) },
    { title: "REASON", of: ({ reason }) => shown(reason) },
    { title: "EVENT", of: ({ event }) => shown(event) },
    { title: "CONTRACT", of: ({ contractId }) => shown(contractId) },
    { title: "ID", of: ({ id }) => shown(id) },
  ],
};

function showCommand(): Command {
  return storeCommand({
    name: "show",
    description: "Show one quarantined delivery, its headers and its body.",
    examples: [["quarantine show sha256:0c1f…", "why it is not applied, and what was sent"]],
  })
    .argument("<id>", "its id, as the list shows it")
    .action((id: string, flags: Flags) => orExplain(() => showQuarantined(id, flags)));
}

async function showQuarantined(id: string, flags: Flags): Promise<void> {
  const found = await withReads(flags, ({ quarantine }) => withBody(quarantine.get(id)));
  if (found === undefined)
    throw new Error(`No quarantined delivery has the id ${id}: escrow-mirror quarantine list shows the ids.`);
  await printDelivery(found, flags);
}

function releaseCommand(): Command {
  return storeCommand({
    name: "release",
    description: "Apply quarantined deliveries after all.",
    examples: [["quarantine release sha256:0c1f…", "apply this one"]],
  })
    .argument("<id...>", "their ids")
    .action((ids: string[], flags: Flags) =>
      orExplain(() => withEach(flags, ids, "released", ({ quarantine }, id) => quarantine.release(id))),
    );
}

function dismissCommand(): Command {
  return storeCommand({
    name: "dismiss",
    description: "Take quarantined deliveries off the list. They stay stored, and can still be released.",
    examples: [["quarantine dismiss sha256:0c1f…", "this one is dealt with"]],
  })
    .argument("<id...>", "their ids")
    .action((ids: string[], flags: Flags) =>
      orExplain(() => withEach(flags, ids, "dismissed", ({ quarantine }, id) => quarantine.dismiss(id))),
    );
}

function withEach(
  flags: Flags,
  ids: readonly string[],
  done: string,
  work: (mirror: Mirror, id: string) => Promise<void>,
): Promise<void> {
  return withMirror(flags, (mirror) =>
    eachId(
      ids,
      flags,
      async (id) => {
        await work(mirror, id);
        return { text: `${done} ${id}` };
      },
      { kind: "quarantined delivery", list: "quarantine list" },
    ),
  );
}
