/**
 * Deletes old data in many short transactions, so that deliveries hardly wait. Ids, digests and facts stay, because dedupe
 * and the fold need them: duplicates are recognised for ever, and a late event or a rebuild gives the same result.
 */
import { sweepFailures, sweepPage } from "../handlers/done-jobs.ts";
import { toIsoTime, type Clock } from "../shared/clock.ts";
import { sleep } from "../shared/timers.ts";
import { lastOfFull, type Place } from "../store/pages.ts";
import { keptOutcomes } from "../store/payload.ts";
import type { Store, StoreTransaction } from "../store/store.ts";
import { allBut } from "../store/tables.ts";
import type { DeliveryRow, PayloadRow } from "../store/tables/deliveries.ts";
import { parsePruneOptions, type Pruned, type PruneOptions } from "./prune-options.ts";
import { createStride, type Stride } from "./stride.ts";

export interface PruneParts {
  readonly store: Store;
  readonly clock: Clock;
}

/** In a pause between two steps, deliveries can commit. */
const pauseMs = 10;

/** How many rows one step removed, and where the next one begins. `undefined` after the last. */
interface Removal {
  readonly removed: number;
  readonly next: Place | undefined;
}

type TakeStep = (tx: StoreTransaction, after: Place | undefined, rowsMax: number) => Promise<Removal>;

/** @throws EscrowMirrorError `invalid-argument` that names the option; `store-unavailable`; the signal's reason */
export async function prune({ store, clock }: PruneParts, options: PruneOptions): Promise<Pruned> {
  const { payloads, jobs, quarantine, onProgress, signal } = parsePruneOptions(options);
  const done = { payloads: 0, partitions: [] as string[], jobs: 0, quarantine: 0 };
  const tell = (): void => onProgress?.({ ...done, partitions: [...done.partitions] });

  async function walk(count: "payloads" | "jobs" | "quarantine", take: TakeStep): Promise<void> {
    const stride = createStride();
    for (let after: Place | undefined; ; await sleep(pauseMs)) {
      signal?.throwIfAborted();
      const step = await store.transaction((tx) => stride.measure(() => take(tx, after, stride.rows())));
      done[count] += step.removed;
      tell();
      if (step.next === undefined) return;
      after = step.next;
    }
  }

  const beforeOf = (ageMs: number): string => toIsoTime(clock.now() - ageMs);
  if (jobs !== undefined) {
    await walk("jobs", (tx, after, rowsMax) => sweepFailures(tx, { before: beforeOf(jobs), after, rowsMax }));
    for (const state of ["done", "dead"] as const)
      await walk("jobs", (tx, after, rowsMax) =>
        sweepPage(tx, { state, before: beforeOf(jobs), after, rowsMax }),
      );
  }
  if (payloads !== undefined) {
    signal?.throwIfAborted();
    const { partitions, rowsBefore } = await store.upkeep.dropPayloads(beforeOf(payloads));
    done.partitions.push(...partitions);
    await walk("payloads", (tx, after, rowsMax) => takePayloads(tx, rowsBefore, after, rowsMax));
  }
  if (quarantine !== undefined)
    await walk("quarantine", (tx, after, rowsMax) => takeDismissed(tx, beforeOf(quarantine), after, rowsMax));
  await shrink(store, createStride(), signal);
  return done;
}

async function takePayloads(
  tx: StoreTransaction,
  before: string,
  after: Place | undefined,
  rowsMax: number,
): Promise<Removal> {
  const page = await tx.walk(
    "payloads",
    { by: ["receivedAt", "contentKey"], until: before, after, rowsMax },
    { without: allBut("payloads", ["receivedAt", "contentKey"]) },
  );
  const removed = await removePayloads(tx, page, before);
  const last = lastOfFull(page, rowsMax);
  return { removed, next: last && [last.receivedAt, last.contentKey] };
}

/** The rows of the deliveries stay: a copy is a duplicate for ever. */
async function takeDismissed(
  tx: StoreTransaction,
  before: string,
  after: Place | undefined,
  rowsMax: number,
): Promise<Removal> {
  const page = await tx.walk(
    "deliveries",
    {
      of: { field: "outcome", value: "dismissed" },
      by: ["receivedAt", "seq"],
      present: ["reason"],
      until: before,
      after,
      rowsMax,
    },
    { without: allBut("deliveries", ["receivedAt", "seq", "contentKey"]) },
  );
  const keys = page.map(({ contentKey }) => contentKey);
  const left = await tx.lookup("payloads", "contentKey", keys, allBut("payloads", ["contentKey"]));
  const removed = await removePayloads(tx, left, before);
  const last = lastOfFull(page, rowsMax);
  return { removed, next: last && [last.receivedAt, last.seq] };
}

async function removePayloads(
  tx: StoreTransaction,
  payloads: readonly Pick<PayloadRow, "contentKey">[],
  before: string,
): Promise<number> {
  const keys = payloads.map(({ contentKey }) => contentKey);
  const kept = await keptAmong(tx, keys);
  const old = keys.filter((key) => !kept.has(key));
  if (old.length > 0)
    await tx.remove("payloads", [
      { field: "contentKey", op: "in", value: old },
      { field: "receivedAt", op: "<", value: before },
    ]);
  return old.length;
}

/** Locks the deliveries: who adds a job for one of them either waits, or was first and its job is seen (`holdPayloads`). */
async function keptAmong(tx: StoreTransaction, keys: readonly string[]): Promise<Set<string>> {
  if (keys.length === 0) return new Set();
  const fields = allBut("deliveries", ["contentKey", "outcome"]);
  const deliveries = await tx.lock("deliveries", "contentKey", keys, fields);
  const owed = await tx.jobs.owedFor(keys);
  const kept: ReadonlySet<DeliveryRow["outcome"]> = new Set(keptOutcomes);
  const ofOutcome = deliveries.filter(({ outcome }) => kept.has(outcome));
  return new Set([...ofOutcome.map(({ contentKey }) => contentKey), ...owed]);
}

/** Gives free pages of the file back to the disk. */
async function shrink(store: Store, stride: Stride, signal: AbortSignal | undefined): Promise<void> {
  while (await stride.measure(() => store.upkeep.shrink(stride.rows()))) {
    signal?.throwIfAborted();
    await sleep(pauseMs);
  }
}
