/** How far a run has come, as a row: one that ends early goes on where it stopped, and several processes share one. */
import { randomUUID } from "node:crypto";
import { toIsoTime, type Clock } from "../shared/clock.ts";
import type { Store } from "../store/store.ts";
import type { ProgressRow } from "../store/tables/operations.ts";

/** A run that has begun. */
export interface BegunRun {
  /** Contracts that were read since then need no other read. */
  readonly startedAt: string;
  /** The contract up to which the walk has come; `null` before the walk. */
  readonly place: string | null;
  /** The walk has come so far, and all before it is done. */
  reach(place: string): Promise<void>;
  /** The run is done. */
  end(): Promise<void>;
}

/** A run that nobody was heard of for so long is not gone on with: what it read is old. */
const resumableMs = 3_600_000;

export async function openRun(store: Store, clock: Clock, since: string | undefined): Promise<BegunRun> {
  const now = toIsoTime(clock.now());
  const oldest = toIsoTime(clock.now() - resumableMs);
  const row = await store.transaction(async (tx): Promise<ProgressRow> => {
    await tx.remove("progress", [{ field: "updatedAt", op: "<", value: oldest }]);
    const known = (await tx.find("progress")).find((each) => each.since === (since ?? null));
    if (known !== undefined) return known;
    const fresh = { runId: randomUUID(), since: since ?? null, startedAt: now, place: null, updatedAt: now };
    await tx.insert("progress", [fresh]);
    return fresh;
  });
  const { runId, startedAt, place } = row;
  return {
    startedAt,
    place,
    // Another process that shares the run may have ended it: then there is no row, and none comes back.
    reach: (reached) =>
      store.transaction(async (tx) => {
        const [standing] = await tx.lock("progress", "runId", [runId]);
        if (standing === undefined) return;
        const updatedAt = toIsoTime(clock.now());
        await tx.updateEach("progress", "runId", [{ runId, place: reached, updatedAt }]);
      }),
    end: () => store.transaction((tx) => tx.remove("progress", [{ field: "runId", op: "=", value: runId }])),
  };
}
