import type { Condition, Store } from "../store/store.ts";
import { jobStates, type JobRow } from "../store/tables.ts";
import { checkFilter, choiceOf, textOf } from "./arguments.ts";
import { findPage, type Page, type PageRequest } from "./page.ts";
import type { List } from "./paths.ts";

/** One run of a handler that is due or done: for an event, a move, an anomaly or a dead job. */
export interface Job {
  /** The job's id. */
  readonly id: string;
  /** The handler's name. */
  readonly handler: string;
  /** The delivery that caused it; `null` if there is none. */
  readonly webhookId: string | null;
  /** `null` without one. */
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
}

/** Reads jobs. */
export interface JobQueries {
  /** Newest first. Done jobs are removed after 7 days, except those of anomalies. @throws EscrowMirrorError `invalid-argument` */
  list(filter?: JobFilter): Promise<Page<Job>>;
}

export function createJobQueries(store: Store): JobQueries {
  return {
    list: async (filter = {}) => {
      checkFilter(filter, { state: true, handler: true });
      const where = toConditions(filter);
      const page = await store.read((reader) => findPage(reader, jobList, where, filter));
      return { ...page, items: page.items.map(toJob) };
    },
  };
}

const jobList: List<"jobs"> = {
  table: "jobs",
  paths: [
    { of: "state", by: ["createdAt", "seq"] },
    { of: "handler", by: ["createdAt", "seq"] },
  ],
  descending: true,
};

function toConditions({ state, handler }: JobFilter): Condition<JobRow>[] {
  const where: Condition<JobRow>[] = [];
  if (state !== undefined)
    where.push({ field: "state", op: "=", value: choiceOf(state, jobStates, "state") });
  if (handler !== undefined) where.push({ field: "handler", op: "=", value: textOf(handler, "handler") });
  return where.length === 0 ? [{ field: "state", op: "in", value: jobStates }] : where;
}

export function toJob(row: JobRow): Job {
  const { seq, handler, webhookId, contractId, state, attempts, nextAttemptAt, lastError } = row;
  return { id: String(seq), handler, webhookId, contractId, state, attempts, nextAttemptAt, lastError };
}
