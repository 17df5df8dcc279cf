/**
 * Old data goes, in many short transactions: whoever receives meanwhile hardly waits. What dedupe and the fold need stays:
 * ids, digests and facts. So duplicates are known for ever, and a late event or a rebuild comes out the same.
 */
import { sweepPage } from "../handlers/done-jobs.ts";
import { toIsoTime, type Clock } from "../shared/clock.ts";
import { sleep } from "../shared/timers.ts";
import { keptOutcomes } from "../store/payload.ts";
import type { Store, StoreReader, StoreTransaction } from "../store/store.ts";
import { allBut, type DeliveryRow } from "../store/tables.ts";
import { parsePruneOptions, type Pruned, type PruneOptions } from "./prune-options.ts";
import { createStride, type Stride } from "./stride.ts";

export interface PruneParts {
  readonly store: Store;
  readonly clock: Clock;
}

/** In between, who receives gets on. */
const pauseMs = 10;

/** One step: how many rows it took away, and where the next one begins; no place after the last. */
interface Step {
  readonly removed: number;
  readonly next: Place | undefined;
}

type Place = readonly (string | number)[];
type TakeStep = (tx: StoreTransaction, after: Place | undefined, rowsMax: number) => Promise<Step>;

/** @throws EscrowMirrorError `invalid-argument` that names the option; `store-unavailable`; the signal's reason */
export async function prune({ store, clock }: PruneParts, options: PruneOptions): Promise<Pruned> {
  const { payloads, jobs, quarantine, onProgress, signal } = parsePruneOptions(options);
  const done = { payloads: 0, partitions: [] as string[], jobs: 0, quarantine: 0 };
  const told = (): void => onProgress?.({ ...done, partitions: [...done.partitions] });

  async function walk(count: "payloads" | "jobs" | "quarantine", take: TakeStep): Promise<void> {
    const stride = createStride();
    for (let after: Place | undefined; ; await sleep(pauseMs)) {
      signal?.throwIfAborted();
      const step = await store.transaction((tx) => stride.measure(() => take(tx, after, stride.rows())));
      done[count] += step.removed;
      told();
      if (step.next === undefined) return;
      after = step.next;
    }
  }

  const beforeOf = (ageMs: number): string => toIsoTime(clock.now() - ageMs);
  if (jobs !== undefined)
    for (const state of ["done", "dead"] as const)
      await walk("jobs", (tx, after, rowsMax) =>
        sweepPage(tx, { state, before: beforeOf(jobs), after, rowsMax }),
      );
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
): Promise<Step> {
  const page = await tx.walk(
    "payloads",
    { by: ["receivedAt", "contentKey"], until: before, after, rowsMax },
    { without: allBut("payloads", ["receivedAt", "contentKey"]) },
  );
  const removed = await removePayloads(
    tx,
    page.map(({ contentKey }) => contentKey),
    before,
  );
  const last = page.length < rowsMax ? undefined : page.at(-1);
  return { removed, next: last && [last.receivedAt, last.contentKey] };
}

/** Their rows stay, so that a copy is a duplicate for ever. */
async function takeDismissed(
  tx: StoreTransaction,
  before: string,
  after: Place | undefined,
  rowsMax: number,
): Promise<Step> {
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
  const removed = await removePayloads(
    tx,
    left.map(({ contentKey }) => contentKey),
    before,
  );
  const last = page.length < rowsMax ? undefined : page.at(-1);
  return { removed, next: last && [last.receivedAt, last.seq] };
}

async function removePayloads(tx: StoreTransaction, keys: readonly string[], before: string) {
  const kept = await keptAmong(tx, keys);
  const old = keys.filter((key) => !kept.has(key));
  if (old.length > 0)
    await tx.remove("payloads", [
      { field: "contentKey", op: "in", value: old },
      { field: "receivedAt", op: "<", value: before },
    ]);
  return old.length;
}

async function keptAmong(
  tx: StoreReader & Pick<StoreTransaction, "jobs">,
  keys: readonly string[],
): Promise<Set<string>> {
  if (keys.length === 0) return new Set();
  const fields = allBut("deliveries", ["contentKey", "outcome"]);
  const deliveries = await tx.lookup("deliveries", "contentKey", keys, fields);
  const owed = await tx.jobs.owedFor(keys);
  const kept: ReadonlySet<DeliveryRow["outcome"]> = new Set(keptOutcomes);
  const ofOutcome = deliveries.filter(({ outcome }) => kept.has(outcome));
  return new Set([...ofOutcome.map(({ contentKey }) => contentKey), ...owed]);
}

/** Room that is free in the file goes back to the disk. */
async function shrink(store: Store, stride: Stride, signal: AbortSignal | undefined): Promise<void> {
  while (await stride.measure(() => store.upkeep.shrink(stride.rows()))) {
    signal?.throwIfAborted();
    await sleep(pauseMs);
  }
}
