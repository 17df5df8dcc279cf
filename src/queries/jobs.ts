import type { Condition, StoreReader, View } from "../store/store.ts";
import { allBut } from "../store/tables.ts";
import { jobStates, type JobRow } from "../store/tables/handlers.ts";
import { checkFilter, choiceOf, idOf, textOf, timeOf } from "./arguments.ts";
import { findPage, type Page, type PageRequest } from "./page.ts";
import type { List } from "./paths.ts";

/** The work of one handler for one event, move, anomaly or dead job. */
export interface Job {
  /** The job's id. */
  readonly id: string;
  /** The handler's name. */
  readonly handler: string;
  /** The delivery that caused it; `null` if there is none. */
  readonly webhookId: string | null;
  /** The contract; `null` if there is none. */
  readonly contractId: string | null;
  /** `waiting` for an earlier job, `due`, `running`, `done`, or `dead`: no more attempts. */
  readonly state: JobRow["state"];
  /** How many attempts have started. */
  readonly attempts: number;
  /** ISO 8601. */
  readonly nextAttemptAt: string;
  /** The error of the last failed attempt. */
  readonly lastError: string | null;
}

/** Selects jobs that fit all given fields. */
export interface JobFilter extends PageRequest {
  /** The state. */
  readonly state?: Job["state"] | undefined;
  /** The handler's name. */
  readonly handler?: string | undefined;
  /** The type of the delivery's event. A page then looks at `limit` jobs, and can have fewer items, or none. */
  readonly event?: string | undefined;
  /** Made at or after this time: ISO 8601, or a `Date`. */
  readonly since?: string | Date | undefined;
  /** Jobs of this contract that have failed at least once. */
  readonly failedOf?: string | undefined;
}

/** Reads jobs. */
export interface JobQueries {
  /** Newest first. Done jobs are removed after 7 days, except those of anomalies. @throws EscrowMirrorError `invalid-argument` */
  list(filter?: JobFilter): Promise<Page<Job>>;
}

export function createJobQueries(store: View): JobQueries {
  return {
    list: async (filter = {}) => {
      checkFilter(filter, { state: true, handler: true, event: true, since: true, failedOf: true });
      const where = toConditions(filter);
      const event = filter.event === undefined ? undefined : textOf(filter.event, "event");
      return store.read(async (reader) => {
        const { items, nextCursor } = await findPage(reader, jobList, where, filter);
        const fitting = event === undefined ? items : await ofEvent(reader, items, event);
        return { items: fitting.map(toJob), nextCursor };
      });
    },
  };
}

const jobList: List<"jobs"> = {
  table: "jobs",
  paths: [
    { of: "contractId", by: ["createdAt", "seq"], present: ["lastError"] },
    { of: "state", by: ["createdAt", "seq"] },
    { of: "handler", by: ["createdAt", "seq"] },
  ],
  descending: true,
};

function toConditions({ state, handler, since, failedOf }: JobFilter): Condition<JobRow>[] {
  const where: Condition<JobRow>[] = [];
  if (failedOf !== undefined)
    where.push(
      { field: "contractId", op: "=", value: idOf(failedOf) },
      { field: "lastError", op: "not-null" },
    );
  if (state !== undefined)
    where.push({ field: "state", op: "=", value: choiceOf(state, jobStates, "state") });
  if (handler !== undefined) where.push({ field: "handler", op: "=", value: textOf(handler, "handler") });
  if (where.length === 0) where.push({ field: "state", op: "in", value: jobStates });
  if (since !== undefined) where.push({ field: "createdAt", op: ">=", value: timeOf(since, "since") });
  return where;
}

/** Those whose delivery has an event of this type: the delivery knows it, not the job. */
export async function ofEvent(
  reader: StoreReader,
  jobs: readonly JobRow[],
  event: string,
): Promise<JobRow[]> {
  const keys = [...new Set(jobs.flatMap(({ contentKey }) => contentKey ?? []))];
  const without = allBut("deliveries", ["contentKey", "event"]);
  const deliveries = await reader.lookup("deliveries", "contentKey", keys, without);
  const fitting = new Set(deliveries.filter((each) => each.event === event).map((each) => each.contentKey));
  return jobs.filter(({ contentKey }) => contentKey !== null && fitting.has(contentKey));
}

export function toJob(row: JobRow): Job {
  const { seq, handler, webhookId, contractId, state, attempts, nextAttemptAt, lastError } = row;
  return { id: String(seq), handler, webhookId, contractId, state, attempts, nextAttemptAt, lastError };
}
