/** The room in the file that rows leave behind. */
import type { Upkeep } from "../store.ts";
import type { SqliteConnections } from "./connections.ts";
import { whenFree } from "./handle.ts";

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
  };
}

const incremental = 2;
