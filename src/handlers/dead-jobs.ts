import type { NewJob } from "../store/queue.ts";
import type { Condition, StoreTransaction } from "../store/store.ts";
import type { JobRow } from "../store/tables/handlers.ts";
import { toJob } from "../queries/jobs.ts";
import { holdSubscriptions } from "./hold-subscriptions.ts";

/** Adds jobs for the handlers of `job-dead`. Dead jobs of these handlers themselves add none. */
export async function notifyOfDead(
  tx: StoreTransaction,
  jobs: readonly Pick<JobRow, "seq">[],
): Promise<void> {
  if (jobs.length === 0) return;
  const listeners = (await holdSubscriptions(tx)).filter(
    ({ kind, filter }) => kind === "event" && "events" in filter && filter.events.includes("job-dead"),
  );
  if (listeners.length === 0) return;
  const names = new Set(listeners.map(({ name }) => name));
  const where = [{ field: "seq", op: "in", value: jobs.map(({ seq }) => seq) }] as const;
  const dead = (await tx.find("jobs", { where })).filter(({ handler }) => !names.has(handler));
  await tx.jobs.insert(listeners.flatMap(({ name }) => dead.map((job) => jobOf(name, job))));
}

/** Adds a job that is dead from the start. It runs once somebody retries it. */
export async function insertDeadJob(
  tx: StoreTransaction,
  job: NewJob,
  now: string,
  last: Pick<JobRow, "attempts" | "lastError">,
): Promise<void> {
  const times = { nextAttemptAt: now, createdAt: now, finishedAt: now };
  await tx.insert("jobs", [
    { ...job, ...last, ...times, state: "dead", claims: 0, workerId: null, lost: false },
  ]);
  const where = [
    { field: "handler", op: "=", value: job.handler },
    { field: "jobKey", op: "=", value: job.jobKey },
  ] as const;
  await notifyOfDead(tx, await tx.find("jobs", { where }));
}

/** The jobs that tell of this one, whenever it was dead. */
export function ofDead(seq: number): Condition<JobRow>[] {
  const key = keyOfDead(seq);
  return [
    { field: "jobKey", op: ">=", value: `${key} ` },
    { field: "jobKey", op: "<", value: `${key}!` },
  ];
}

function keyOfDead(seq: number): string {
  return `dead ${seq}`;
}

/** The time is in the key, because a job that was retried can be dead again. */
function jobOf(handler: string, job: JobRow): NewJob {
  const { seq, contractId, webhookId, finishedAt } = job;
  const jobKey = `${keyOfDead(seq)} ${finishedAt ?? ""}`;
  return { handler, contractId, jobKey, contentKey: null, webhookId, payload: toJob(job) };
}
