/** Handlers that are owed jobs which no process runs: their code is gone, or the process that has it is not started. */
import { toIsoTime, type Clock } from "../shared/clock.ts";
import type { Store, StoreReader } from "../store/store.ts";

export interface Orphan {
  readonly handler: string;
  /** When its oldest job became due. ISO 8601. */
  readonly dueAt: string;
}

/** So long a job may be due, and a worker silent: a cron job may run handlers every few minutes. */
const patienceMs = 600_000;

export async function orphansIn(store: Store, clock: Clock): Promise<Orphan[]> {
  const lateAt = toIsoTime(clock.now() - patienceMs);
  const names = await store.read((reader) => withoutWorker(reader, lateAt));
  const orphans: Orphan[] = [];
  for (const handler of names) {
    const dueAt = await store.nextJobAt([handler]);
    if (dueAt !== null && dueAt < lateAt) orphans.push({ handler, dueAt });
  }
  return orphans;
}

/** The handlers that no worker runs which was heard of lately. */
async function withoutWorker(reader: StoreReader, lateAt: string): Promise<string[]> {
  const subscriptions = await reader.find("subscriptions", { orderBy: ["name"] });
  if (subscriptions.length === 0) return [];
  const alive = await reader.find("workers", { where: [{ field: "aliveUntil", op: ">=", value: lateAt }] });
  const run = new Set(alive.flatMap(({ handlers }) => handlers));
  return subscriptions.map(({ name }) => name).filter((name) => !run.has(name));
}
