/** Loads everything that the mirror has about one contract. */
import type { Job } from "../../queries/jobs.ts";
import type { Reads } from "../../queries/reads.ts";
import type {
  Anomaly,
  MirroredContract,
  MirroredDelivery,
  MirroredDispute,
  MirroredPayment,
  Transition,
} from "../../queries/shapes.ts";
import { pagesOf } from "../lib/list.ts";
import { openOf, type Open } from "./open-points.ts";

/** One contract with all rows that belong to it. */
export interface Case {
  readonly contract: MirroredContract;
  readonly history: readonly Transition[];
  readonly payments: readonly MirroredPayment[];
  readonly disputes: readonly MirroredDispute[];
  readonly anomalies: readonly Anomaly[];
  /** Deliveries that name it and are not applied. */
  readonly quarantined: readonly MirroredDelivery[];
  /** Its jobs that failed at least once and are not done. */
  readonly failedJobs: readonly Job[];
  /** Its open points. */
  readonly open: readonly Open[];
}

/** `undefined` if the mirror does not know the contract. */
export async function loadCase(reads: Reads, contractId: string): Promise<Case | undefined> {
  const of = { contractId };
  const [contract, history, payments, disputes, anomalies, quarantined, jobs] = await Promise.all([
    reads.contracts.get(contractId),
    reads.contracts.history(contractId),
    all(pagesOf((page) => reads.payments.list({ ...of, ...page }))),
    all(pagesOf((page) => reads.disputes.list({ ...of, ...page }))),
    all(pagesOf((page) => reads.anomalies.list({ ...of, ...page }))),
    all(pagesOf((page) => reads.deliveries.list({ ...of, outcome: "quarantined", ...page }))),
    all(pagesOf((page) => reads.jobs.list({ failedOf: contractId, ...page }))),
  ]);
  if (contract === undefined) return undefined;
  const failedJobs = jobs.filter(({ state }) => state !== "done");
  const known = { contract, history, payments, disputes, anomalies, quarantined, failedJobs };
  return { ...known, open: openOf(known, Date.now()) };
}

async function all<Item>(pages: AsyncIterable<Item[]>): Promise<Item[]> {
  const items: Item[] = [];
  for await (const page of pages) items.push(...page);
  return items;
}
