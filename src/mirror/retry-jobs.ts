/** Retries one job, or many: those in the order in which they were made, a page in each transaction. */
import { checkOptions, choiceOf, textOf, timeOf } from "../queries/arguments.ts";
import { ofEvent } from "../queries/jobs.ts";
import { EscrowMirrorError } from "../shared/errors.ts";
import { lastOfFull, type Place } from "../store/pages.ts";
import { holdPayloads } from "../store/payload.ts";
import type { Store, StoreTransaction } from "../store/store.ts";
import type { JobRow } from "../store/tables/handlers.ts";

/** Selects the jobs to retry: those that fit all given fields. */
export interface RetryFilter {
  /** `dead` (default): jobs that gave up. `due`: jobs that wait for their next attempt. */
  readonly state?: "dead" | "due" | undefined;
  /** The handler's name. */
  readonly handler?: string | undefined;
  /** The type of the delivery's event. */
  readonly event?: string | undefined;
  /** Made at or after this time: ISO 8601, or a `Date`. */
  readonly since?: string | Date | undefined;
  /** Stops before the next page. Jobs that were retried stay retried. */
  readonly signal?: AbortSignal | undefined;
}

/** How many jobs one transaction looks at: nobody waits for the length of a backlog. */
const pageRows = 200;

interface Search {
  readonly state: "dead" | "due";
  readonly handler: string | undefined;
  readonly event: string | undefined;
  readonly from: string | undefined;
}

export async function retryJob(store: Store, id: string): Promise<void> {
  await store.transaction(async (tx) => {
    const seq = /^\d{1,15}$/.test(id) ? Number(id) : -1;
    const [job] = await tx.find("jobs", { where: [{ field: "seq", op: "=", value: seq }] });
    if (job?.state === "dead") return revive(tx, [job]);
    if (job?.state === "due") return tx.jobs.hasten([seq]);
    throw new EscrowMirrorError(
      "not-found",
      `no dead or due job has the id ${id}: pass the id of an item of mirror.jobs.list({ state: "dead" }), or "due"`,
    );
  });
}

/** @returns how many */
export async function retryJobs(store: Store, filter: RetryFilter = {}): Promise<number> {
  checkOptions(filter, ["state", "handler", "event", "since", "signal"], "jobs.retryAll");
  const search = toSearch(filter);
  let after: Place | undefined;
  let retried = 0;
  do {
    filter.signal?.throwIfAborted();
    const page = await store.transaction((tx) => retryPage(tx, search, after));
    retried += page.retried;
    after = page.end;
  } while (after !== undefined);
  return retried;
}

function toSearch({ state = "dead", handler, event, since }: RetryFilter): Search {
  return {
    state: choiceOf(state, ["dead", "due"], "state"),
    handler: handler === undefined ? undefined : textOf(handler, "handler"),
    event: event === undefined ? undefined : textOf(event, "event"),
    from: since === undefined ? undefined : timeOf(since, "since"),
  };
}

/** A job that dies again meanwhile stands before `after`: so the walk ends. */
async function retryPage(
  tx: StoreTransaction,
  { state, handler, event, from }: Search,
  after: Place | undefined,
): Promise<{ readonly retried: number; readonly end: Place | undefined }> {
  const of = { field: "state", value: state } as const;
  const by = ["createdAt", "seq"] as const;
  const rows = await tx.walk("jobs", { of, by, from, after, rowsMax: pageRows });
  const handled = rows.filter((row) => handler === undefined || row.handler === handler);
  const jobs = event === undefined ? handled : await ofEvent(tx, handled, event);
  const seqs = jobs.map(({ seq }) => seq);
  await (state === "dead" ? revive(tx, jobs) : tx.jobs.hasten(seqs));
  const last = lastOfFull(rows, pageRows);
  return { retried: seqs.length, end: last && [last.createdAt, last.seq] };
}

async function revive(tx: StoreTransaction, jobs: readonly JobRow[]): Promise<void> {
  await holdPayloads(
    tx,
    jobs.flatMap(({ contentKey }) => contentKey ?? []),
  );
  await tx.jobs.revive(jobs.map(({ seq }) => seq));
}
