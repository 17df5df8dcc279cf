/** Done jobs go when they are old, a page at a time, by whoever runs jobs. */
import { toIsoTime, type Clock } from "../shared/clock.ts";
import { settle } from "../shared/result.ts";
import { clearTimeout, setTimeout, sleep } from "../shared/timers.ts";
import type { Store, StoreTransaction } from "../store/store.ts";
import { allBut, type JobRow } from "../store/tables.ts";
import { isOncePerEver } from "./subscription.ts";

export interface Sweeper {
  /** Sweeps from now on, once an hour. */
  start(): void;
  /** Removes what is old enough now. Does nothing while that is under way. */
  sweep(): Promise<void>;
  close(): Promise<void>;
}

/** How long a done job stays, for whoever looks for what happened. */
const keepMs = 7 * 86_400_000;
const everyMs = 3_600_000;
const pageRows = 200;
/** In between, who receives gets on. */
const pauseMs = 20;

export function createSweeper(store: Store, clock: Clock): Sweeper {
  let sweeping: Promise<unknown> | undefined;
  let timer: NodeJS.Timeout | undefined;
  const closing = new AbortController();

  async function sweepAll(): Promise<void> {
    const before = toIsoTime(clock.now() - keepMs);
    for (let after: Place | undefined; !closing.signal.aborted; await sleep(pauseMs)) {
      const page = { state: "done", before, after, rowsMax: pageRows } as const;
      const { next } = await store.transaction((tx) => sweepPage(tx, page));
      if (next === undefined) return;
      after = next;
    }
  }

  const sweep = async (): Promise<void> => {
    // Rows that stay now go with the next run.
    sweeping ??= settle(sweepAll).finally(() => (sweeping = undefined));
    await sweeping;
  };

  const repeat = (): void => {
    if (closing.signal.aborted) return;
    timer = setTimeout(() => void sweep().finally(repeat), everyMs);
    timer.unref();
  };

  return {
    start: () => void sweep().finally(repeat),
    sweep,
    close: async () => {
      closing.abort();
      clearTimeout(timer);
      await sweeping;
    },
  };
}

type Place = readonly (string | number)[];

interface SweepPage {
  readonly state: Extract<JobRow["state"], "done" | "dead">;
  /** Jobs that ended before go. */
  readonly before: string;
  readonly after: Place | undefined;
  readonly rowsMax: number;
}

/** @returns how many jobs went, and where the next page begins, if there may be more */
export async function sweepPage(
  tx: StoreTransaction,
  { state, before, after, rowsMax }: SweepPage,
): Promise<{ readonly removed: number; readonly next: Place | undefined }> {
  if (after === undefined) await tx.remove("failures", [{ field: "changedAt", op: "<", value: before }]);
  const page = await tx.walk(
    "jobs",
    {
      of: { field: "state", value: state },
      by: ["createdAt", "seq"],
      after,
      until: before,
      rowsMax,
    },
    { without: allBut("jobs", ["seq", "jobKey", "createdAt", "finishedAt"]) },
  );
  const old = page.filter(({ jobKey, finishedAt }) => !isOncePerEver(jobKey) && (finishedAt ?? "") < before);
  if (old.length > 0) await tx.remove("jobs", [{ field: "seq", op: "in", value: old.map(({ seq }) => seq) }]);
  const last = page.length < rowsMax ? undefined : page.at(-1);
  return { removed: old.length, next: last && [last.createdAt, last.seq] };
}
