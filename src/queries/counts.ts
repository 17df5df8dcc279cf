import { nextTurn } from "../shared/timers.ts";
import type { StoreReader } from "../store/store.ts";
import { allBut } from "../store/tables.ts";

/**
 * How many contracts there are for each status, `null` where none is known. They are counted in slices, and the event loop
 * turns between them: on SQLite a million in one statement would hold up every delivery.
 */
export async function countByStatus(reader: StoreReader): Promise<Map<string | null, number>> {
  const counts = new Map<string | null, number>();
  const unknown = await countOf(reader, null);
  if (unknown > 0) counts.set(null, unknown);
  for (let status = await statusBehind(reader); status != null; status = await statusBehind(reader, status)) {
    counts.set(status, await countOf(reader, status));
    await nextTurn();
  }
  return counts;
}

/** The next status that any contract has. */
async function statusBehind(reader: StoreReader, status?: string): Promise<string | null | undefined> {
  const after = status === undefined ? undefined : [status];
  const [first] = await reader.walk(
    "contracts",
    { by: ["status", "contractId"], from: "", after, rowsMax: 1 },
    { without: allBut("contracts", ["status"]) },
  );
  return first?.status;
}

const sliceRows = 20_000;

async function countOf(reader: StoreReader, status: string | null): Promise<number> {
  const of = { field: "status", value: status } as const;
  let after: string[] | undefined;
  for (let counted = 0; ; counted += sliceRows) {
    const slice = { of, by: ["contractId"], after } as const;
    const [last] = await reader.walk(
      "contracts",
      { ...slice, skip: sliceRows - 1, rowsMax: 1 },
      { without: allBut("contracts", ["contractId"]) },
    );
    if (last === undefined)
      return counted + (await reader.count("contracts", { ...slice, rowsMax: sliceRows }));
    after = [last.contractId];
    await nextTurn();
  }
}

/** The number of jobs in each state. 1,000 means 1,000 or more. Done jobs are not counted. */
export interface JobCounts {
  /** Ready to run, or waiting for the time of their next attempt. */
  readonly due: number;
  /** Behind another job of the same handler and contract. */
  readonly waiting: number;
  /** Jobs that run now. */
  readonly running: number;
  /** No more attempts: see `mirror.jobs.list({ state: "dead" })`. */
  readonly dead: number;
}

/** A count that is looked at often goes no further than this. */
export const countMax = 10_000;

/** How many deliveries are set aside: `countMax` where that many are, or more. */
export function countQuarantined(reader: StoreReader): Promise<number> {
  return reader.count("deliveries", {
    of: { field: "outcome", value: "quarantined" },
    by: ["receivedAt", "seq"],
    present: ["reason"],
    rowsMax: countMax,
  });
}

/** Jobs change all the time: on Postgres each that is counted is visited, for its page is rarely known to be visible to all. */
const jobsMax = 1000;

/** How many jobs there are of each state that somebody has to see to, each up to `jobsMax`. */
export async function countJobs(reader: StoreReader): Promise<JobCounts> {
  const countIn = (value: keyof JobCounts): Promise<number> =>
    reader.count("jobs", {
      of: { field: "state", value },
      by: ["createdAt", "seq"],
      rowsMax: jobsMax,
    });
  const [due, waiting, running, dead] = await Promise.all(
    (["due", "waiting", "running", "dead"] as const).map(countIn),
  );
  return { due, waiting, running, dead } as JobCounts;
}
