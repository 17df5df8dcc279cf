/** Removes old done jobs and counts of failures, page by page, in each process that runs jobs. */
import { toIsoTime, type Clock } from "../shared/clock.ts";
import { settle } from "../shared/result.ts";
import { clearTimeout, setTimeout, sleep } from "../shared/timers.ts";
import { lastOfFull, type Place } from "../store/pages.ts";
import type { Store, StoreTransaction } from "../store/store.ts";
import { allBut } from "../store/tables.ts";
import type { JobRow } from "../store/tables/handlers.ts";
import { isOncePerEver } from "./subscription.ts";

export interface Sweeper {
  /** Sweeps after some seconds, and once an hour from then on. */
  start(): void;
  /** Removes old jobs now. If a sweep runs already, it waits for that one instead. */
  sweep(): Promise<void>;
  close(): Promise<void>;
}

/** How long a done job stays: a person may ask what happened. */
const keepMs = 7 * 86_400_000;
const everyMs = 3_600_000;
/** A process that has just started has its first deliveries to answer. */
const firstAfterMs = 5000;
const pageRows = 200;
/** In a pause between two pages, deliveries can commit. */
const pauseMs = 20;

export function createSweeper(store: Store, clock: Clock): Sweeper {
  let sweeping: Promise<unknown> | undefined;
  let timer: NodeJS.Timeout | undefined;
  const closing = new AbortController();

  async function sweepAll(): Promise<void> {
    const before = toIsoTime(clock.now() - keepMs);
    await inPages((tx, after) => sweepFailures(tx, { before, after, rowsMax: pageRows }));
    await inPages((tx, after) => sweepPage(tx, { state: "done", before, after, rowsMax: pageRows }));
  }

  async function inPages(take: (tx: StoreTransaction, after: Place | undefined) => Promise<Swept>) {
    for (let after: Place | undefined; !closing.signal.aborted; await sleep(pauseMs)) {
      const { next } = await store.transaction((tx) => take(tx, after));
      if (next === undefined) return;
      after = next;
    }
  }

  const sweep = async (): Promise<void> => {
    // If it fails, the next sweep removes the rest.
    sweeping ??= settle(sweepAll).finally(() => (sweeping = undefined));
    await sweeping;
  };

  const sweepAfter = (ms: number): void => {
    if (closing.signal.aborted) return;
    timer = setTimeout(() => void sweep().finally(() => sweepAfter(everyMs)), ms);
    timer.unref();
  };

  return {
    start: () => sweepAfter(firstAfterMs),
    sweep,
    close: async () => {
      closing.abort();
      clearTimeout(timer);
      await sweeping;
    },
  };
}

interface SweepPage {
  readonly state: Extract<JobRow["state"], "done" | "dead">;
  /** Removes jobs that ended before this time. */
  readonly before: string;
  readonly after: Place | undefined;
  readonly rowsMax: number;
}

/** How many jobs a page removed, and where the next one begins. `undefined` after the last. */
interface Swept {
  readonly removed: number;
  readonly next: Place | undefined;
}

export async function sweepPage(
  tx: StoreTransaction,
  { state, before, after, rowsMax }: SweepPage,
): Promise<Swept> {
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
  // A dead job may have been retried meanwhile: it is owed again.
  if (old.length > 0)
    await tx.remove("jobs", [
      { field: "seq", op: "in", value: old.map(({ seq }) => seq) },
      { field: "state", op: "=", value: state },
      { field: "finishedAt", op: "<", value: before },
    ]);
  const last = lastOfFull(page, rowsMax);
  return { removed: old.length, next: last && [last.createdAt, last.seq] };
}

/** Removes counts of failures that were last written before a time. `removed` is 0, because they are no jobs. */
export async function sweepFailures(
  tx: StoreTransaction,
  { before, after, rowsMax }: Omit<SweepPage, "state">,
): Promise<Swept> {
  const page = await tx.walk(
    "failures",
    { by: ["changedAt", "digest", "handler"], after, until: before, rowsMax },
    { without: allBut("failures", ["digest", "handler", "changedAt"]) },
  );
  if (page.length > 0)
    await tx.remove("failures", [
      { field: "digest", op: "in", value: page.map(({ digest }) => digest) },
      { field: "changedAt", op: "<", value: before },
    ]);
  const last = lastOfFull(page, rowsMax);
  return { removed: 0, next: last && [last.changedAt, last.digest, last.handler] };
}
