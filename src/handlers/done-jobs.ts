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
      const last = await store.transaction((tx) => sweepPage(tx, before, after));
      if (last === undefined) return;
      after = [last.createdAt, last.seq];
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

type Place = readonly [createdAt: string, seq: number];

/** Gives the last row that was looked at, where there may be more behind it. */
async function sweepPage(
  tx: StoreTransaction,
  before: string,
  after: Place | undefined,
): Promise<JobRow | undefined> {
  if (after === undefined) await tx.remove("failures", [{ field: "changedAt", op: "<", value: before }]);
  const page = await tx.walk(
    "jobs",
    {
      of: { field: "state", value: "done" },
      by: ["createdAt", "seq"],
      after,
      until: before,
      rowsMax: pageRows,
    },
    { without: allBut("jobs", ["seq", "jobKey", "createdAt", "finishedAt"]) },
  );
  const old = page.filter(({ jobKey, finishedAt }) => !isOncePerEver(jobKey) && (finishedAt ?? "") < before);
  if (old.length > 0) await tx.remove("jobs", [{ field: "seq", op: "in", value: old.map(({ seq }) => seq) }]);
  return page.length < pageRows ? undefined : page.at(-1);
}
