/** For `health()`: how many jobs there are, and whether any process runs them. */
import { countJobs, type JobCounts } from "../queries/counts.ts";
import { toIsoTime, type Clock } from "../shared/clock.ts";
import type { Store, StoreReader } from "../store/store.ts";

/** A handler with due jobs that no process runs: its code was removed, or its process is not started. */
export interface Orphan {
  readonly handler: string;
  /** When its oldest job became due. ISO 8601. */
  readonly dueAt: string;
}

/** How long a job may be due, and a worker silent, without a warning: cron may run handlers every few minutes. */
const patienceMs = 600_000;

export interface Workload {
  readonly jobs: JobCounts;
  readonly orphans: readonly Orphan[];
  /** The names of all that are registered, by any process. */
  readonly handlers: readonly string[];
}

/** All counts are in one `store.read`, where statements use an index. Else old statistics of a busy table would mislead. */
export async function workloadOf(store: Store, clock: Clock): Promise<Workload> {
  const lateAt = toIsoTime(clock.now() - patienceMs);
  const { jobs, handlers, run } = await store.read(async (reader) => {
    const [counts, names] = await Promise.all([countJobs(reader), namesOf(reader)]);
    return { jobs: counts, handlers: names, run: await runNow(reader, names, lateAt) };
  });
  const orphans: Orphan[] = [];
  for (const handler of handlers.filter((name) => !run.has(name))) {
    const dueAt = await store.nextJobAt([handler]);
    if (dueAt !== null && dueAt < lateAt) orphans.push({ handler, dueAt });
  }
  return { jobs, orphans, handlers };
}

async function namesOf(reader: StoreReader): Promise<string[]> {
  return (await reader.find("subscriptions", { orderBy: ["name"] })).map(({ name }) => name);
}

/** Those of the handlers that a worker runs. One that is silent for too long does not count. */
async function runNow(reader: StoreReader, names: readonly string[], lateAt: string): Promise<Set<string>> {
  if (names.length === 0) return new Set();
  const alive = await reader.find("workers", { where: [{ field: "aliveUntil", op: ">=", value: lateAt }] });
  return new Set(alive.flatMap(({ handlers }) => handlers));
}
