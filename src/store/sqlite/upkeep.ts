/** The room in the file that rows leave behind. */
import { monotonicMs, sleep } from "../../shared/timers.ts";
import type { Upkeep } from "../store.ts";
import type { SqliteConnections } from "./connections.ts";
import { guarded, whenFree } from "./handle.ts";

export function createFileUpkeep(
  { writer, writeLock }: Pick<SqliteConnections, "writer" | "writeLock">,
  busyTimeoutMs: number,
): Upkeep {
  const ask = (pragma: string): number => Number(writer.pragma(pragma, { simple: true }));
  return {
    dropPayloads: async (before) => ({ partitions: [], rowsBefore: before }),
    shrink: (pages) =>
      writeLock.run(() =>
        whenFree(() => {
          // A file that had tables before the mirror made its own keeps its free pages: they are used again.
          if (ask("auto_vacuum") !== incremental) return false;
          writer.pragma(`incremental_vacuum(${pages})`);
          return ask("freelist_count") > 0;
        }, busyTimeoutMs),
      ),
    wipe: async () => {
      // Every writing connection has `secure_delete`: what is left of deleted rows is in the log. A reader of an older state
      // keeps the log from being emptied.
      const deadline = monotonicMs() + wipeMs;
      for (;;) {
        if ((await writeLock.run(async () => guarded(() => ask("wal_checkpoint(truncate)")))) === 0)
          return true;
        if (monotonicMs() >= deadline) return false;
        await sleep(tryAgainMs);
      }
    },
  };
}

const incremental = 2;

/** How long readers and other writers are waited for. */
const wipeMs = 2000;
const tryAgainMs = 20;
