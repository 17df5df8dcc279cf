/** Reads at the service what the mirror may have missed, and folds it in. */
import { redactInput } from "../domain/input.ts";
import { contractsOf } from "../queries/contracts.ts";
import type { SnapshotArrival } from "../receiver/arrival.ts";
import { toIsoTime, type Clock } from "../shared/clock.ts";
import type { Store, StoreReader } from "../store/store.ts";
import { contractsOfLog, contractsOfMirror, contractsOfQuarantine, type RunLimits } from "./candidates.ts";
import { driftOf, type Drift } from "./drift.ts";
import { createIsolation, type Failure } from "./isolation.ts";
import type { MirrorClient } from "./mirror-client.ts";
import { createPool, pause, type Pool } from "./pool.ts";
import { openRun, type BegunRun } from "./progress.ts";
import type { ReadContract } from "./read-contract.ts";
import { createRecent } from "./recent.ts";
import type { ReconcileSettings } from "./reconcile-options.ts";
import type { TakeSnapshot } from "./take-snapshot.ts";

/** The result of a reconciliation. */
export interface Reconciled {
  /** How many contracts were read. */
  checked: number;
  /** How many of them differed from the service, and are equal now. 0 in a dry run. */
  healed: number;
  /** How many could not be read or stored, or still differ. `failures` says why. */
  failed: number;
  /** Where the mirror differed from the service: the first 1,000 fields. `onProgress` gives all of them. */
  drift: Drift[];
  /** Why contracts failed: the first 1,000. */
  failures: Failure[];
  /** Kinds of facts that the API does not have. If their webhooks are lost, they stay lost. */
  unreadable: readonly string[];
}

/** Called after each contract. */
export interface ReconcileProgress {
  /** The contract. */
  readonly contractId: string;
  /** Where it differed. */
  readonly drift: readonly Drift[];
  /** How many contracts were read so far. */
  readonly checked: number;
  /** How many of them were healed so far. */
  readonly healed: number;
  /** How many failed so far. */
  readonly failed: number;
}

/** Facts that the service's API does not show (§4.3). */
export const unreadable = [
  "times of lost events",
  "payments",
  "disputes",
  "history between two reads",
  "refunds that others requested",
] as const;

export interface ReconcileParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly client: MirrorClient;
  readonly readContract: ReadContract;
  readonly takeSnapshot: TakeSnapshot;
}

/** How many fields and failures a report lists. */
const listedMax = 1000;
/** How many ids are remembered, so that a contract of many entries of the log is read once. */
const recentIdsMax = 20_000;
/** How long a contract whose read was stale is left before it is read again. */
const staleMs = 1000;
/** How many stale ones are read again at the end. The next run has the rest. */
const staleMax = 10_000;

export async function reconcile(parts: ReconcileParts, settings: ReconcileSettings): Promise<Reconciled> {
  const { store, clock, client } = parts;
  const { since, dryRun, signal } = settings;
  const run = dryRun ? undefined : await openRun(store, clock, since);
  const scope = toScope(settings, clock, run);
  const checking = startChecking(parts, settings);
  const reachedBefore = run?.place ?? null;
  if (reachedBefore === null) {
    await checking.isolate(null, async () => {
      for await (const ids of contractsOfLog(client, store, scope)) await checking.addAll(ids);
    });
    for await (const ids of contractsOfQuarantine(store)) await checking.addAll(ids);
    await checking.drain();
    await run?.reach("");
  }
  for await (const { ids, end } of contractsOfMirror(store, scope, reachedBefore ?? "")) {
    signal?.throwIfAborted();
    await checking.addAll(ids);
    await checking.drain();
    await run?.reach(end);
  }
  await checking.again();
  await run?.end();
  return checking.report;
}

function toScope(
  { since, olderThan, signal }: ReconcileSettings,
  clock: Clock,
  run: BegunRun | undefined,
): RunLimits {
  const newsBefore = olderThan === undefined ? undefined : toIsoTime(clock.now() - olderThan);
  return { since, startedAt: run?.startedAt, newsBefore, signal };
}

interface Checking {
  readonly report: Reconciled;
  /** Reads these contracts, those that were read lately left out. Resolves once the last has begun. */
  addAll(ids: readonly string[]): Promise<void>;
  isolate(contractId: string | null, work: () => Promise<void>): Promise<void>;
  drain(): Promise<void>;
  /** Reads those again whose reads were older than what the mirror knows. */
  again(): Promise<void>;
}

function startChecking(parts: ReconcileParts, settings: ReconcileSettings): Checking {
  const { signal, onProgress } = settings;
  const report: Reconciled = { checked: 0, healed: 0, failed: 0, drift: [], failures: [], unreadable };
  const pool: Pool = createPool(settings);
  const recent = createRecent(recentIdsMax);
  const stale: string[] = [];

  function tell(contractId: string, drift: readonly Drift[]): void {
    report.drift.push(...drift.slice(0, listedMax - report.drift.length));
    const { checked, healed, failed } = report;
    onProgress?.({ contractId, drift, checked, healed, failed });
  }

  const isolation = createIsolation(signal, (failure) => {
    report.failed++;
    if (report.failures.length < listedMax) report.failures.push(failure);
    if (failure.contractId !== null) tell(failure.contractId, []);
  });

  async function check(contractId: string, isLast: boolean): Promise<void> {
    const { drift, left } = await compare(parts, contractId, settings);
    if (!isLast) report.checked++;
    if (left.length === 0) {
      if (drift.length > 0 && !settings.dryRun) report.healed++;
    } else if (isLast || stale.length >= staleMax) isolation.failed(stillDiffers(contractId, left));
    else stale.push(contractId);
    tell(contractId, drift);
  }

  const add = (contractId: string, isLast: boolean): Promise<void> =>
    pool.add(() => isolation.run(contractId, () => check(contractId, isLast)));

  return {
    report,
    isolate: (contractId, work) => isolation.run(contractId, work),
    addAll: async (ids) => {
      for (const id of ids) if (recent.add(id)) await add(id, false);
    },
    drain: () => pool.drain(),
    again: async () => {
      if (stale.length > 0) await pause(staleMs, signal);
      for (const id of stale) await add(id, true);
      await pool.drain();
    },
  };
}

interface Comparison {
  readonly drift: readonly Drift[];
  /** Statuses that differ still, once the answer is folded in. */
  readonly left: readonly Drift[];
}

async function compare(
  { store, readContract, takeSnapshot }: ReconcileParts,
  contractId: string,
  { dryRun, signal }: ReconcileSettings,
): Promise<Comparison> {
  const snapshot = await readContract(contractId, signal);
  const differences = () => store.read((reader) => differencesIn(reader, snapshot));
  const drift = await differences();
  if (dryRun) return { drift, left: [] };
  await takeSnapshot(snapshot);
  const after = drift.some(isStatus) ? await differences() : [];
  return { drift, left: after.filter(isStatus) };
}

/** Erased fields are no difference, and stand in no report. */
async function differencesIn(reader: StoreReader, snapshot: SnapshotArrival): Promise<Drift[]> {
  const { contractId } = snapshot.facts;
  const [row] = await reader.lookup("contracts", "contractId", [contractId]);
  const { facts } = row?.redactedAt == null ? snapshot : redactInput(snapshot);
  return driftOf((await contractsOf(reader, [contractId])).get(contractId), facts);
}

function isStatus({ field }: Drift): boolean {
  return field === "status";
}

function stillDiffers(contractId: string, left: readonly Drift[]): Failure {
  const [{ milestoneId, mirror, service } = left[0] as Drift] = left;
  const what = milestoneId === null ? "" : ` for milestone ${milestoneId}`;
  const message = `the service still says ${service}${what}, and webhooks reported ${mirror} later: its answers are old, or its clock is wrong`;
  return { contractId, code: "stale-read", message };
}
