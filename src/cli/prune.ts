import process from "node:process";
import type { Command } from "commander";
import { storeCommand } from "./lib/command.ts";
import { counted } from "./lib/counted.ts";
import { orExplain } from "./lib/explain.ts";
import { printJson } from "./lib/print.ts";
import { opened, placeOf, postgresOnly, type StoreFlags } from "./lib/stores.ts";
import { readAge } from "./lib/values.ts";
import { prune } from "../retention/prune.ts";
import { systemClock } from "../shared/clock.ts";

interface Flags extends StoreFlags {
  readonly payloads: number;
  readonly json?: boolean;
}

const more = `Takes the raw bodies and headers of old deliveries away. Facts, ids and digests stay: late events
still fold right, and replays are known for ever. Quarantined deliveries keep theirs. Where the
payloads are partitioned, partitions that hold nothing newer are dropped. It may run while the app
receives, and can be run again where it was interrupted.`;

/** `escrow-mirror prune`: takes old payloads away. */
export function pruneCommand(): Command {
  return storeCommand({
    name: "prune",
    description: "Delete the raw bodies and headers of old deliveries (Postgres).",
    examples: [["prune --payloads 90d", "bodies that are older than 90 days"]],
    more,
  })
    .requiredOption("--payloads <age>", "older than this: 30d, 12h", readAge)
    .action((flags: Flags) => orExplain(() => runPrune(flags)));
}

async function runPrune(flags: Flags): Promise<void> {
  const store = await opened(postgresOnly(placeOf(flags), "can't be pruned"), "check");
  try {
    const { partitions, payloads } = await prune({ store, clock: systemClock }, { payloads: flags.payloads });
    if (flags.json === true) return await printJson({ partitions, payloads });
    for (const name of partitions) process.stdout.write(`dropped ${name}\n`);
    process.stdout.write(`deleted ${counted(payloads, "payload")} outside of partitions\n`);
  } finally {
    await store.close();
  }
}
