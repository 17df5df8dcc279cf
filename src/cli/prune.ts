import process from "node:process";
import { Command } from "commander";
import { counted } from "./counted.ts";
import { orExplain } from "./explain.ts";
import { openPostgres, withStoreOptions, type StoreFlags } from "./stores.ts";

interface Flags extends StoreFlags {
  readonly store?: string;
  readonly payloads: string;
}

const pruneHelp = `

Takes the raw bodies and headers of old deliveries away. Facts, ids and digests stay: late events
still fold right, and replays are known for ever. Quarantined deliveries keep theirs. Where the
payloads are partitioned, partitions that hold nothing newer are dropped. It may run while the app
receives, and can be run again where it was interrupted.`;

/** `escrow-mirror prune`: takes old payloads away. */
export function pruneCommand(): Command {
  const command = new Command("prune")
    .description("Delete the raw bodies and headers of old deliveries (Postgres).")
    .requiredOption("--payloads <age>", "older than this: 30d, 12h")
    .option("--store <address>", "postgres://… (default: DATABASE_URL)");
  return withStoreOptions(command, pruneHelp).action((flags: Flags) => orExplain(() => runPrune(flags)));
}

async function runPrune(flags: Flags): Promise<void> {
  const before = new Date(Date.now() - parseAge(flags.payloads));
  const store = await openPostgres(flags.store, flags, "can't be pruned");
  try {
    const { partitions, rows } = await store.prunePayloads(before);
    for (const name of partitions) process.stdout.write(`dropped ${name}\n`);
    process.stdout.write(`deleted ${counted(rows, "payload")} outside of partitions\n`);
  } finally {
    await store.close();
  }
}

function parseAge(age: string): number {
  const [, count, unit] = /^(\d{1,5})([dh])$/.exec(age) ?? [];
  if (count === undefined || Number(count) === 0)
    throw new Error(
      `--payloads: ${JSON.stringify(age)} is no age. Give a number of days or hours, such as --payloads 30d or --payloads 12h.`,
    );
  return Number(count) * (unit === "d" ? 86_400_000 : 3_600_000);
}
