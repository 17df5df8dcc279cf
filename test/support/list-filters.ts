/** Every filter of every list, and all their combinations. */
import type { Mirror } from "../../src/mirror/create-mirror.ts";
import type { ContractFilter } from "../../src/queries/contracts.ts";
import type { AnomalyFilter, DeliveryFilter } from "../../src/queries/deliveries.ts";
import type { JobFilter } from "../../src/queries/jobs.ts";
import type { Page, PageRequest } from "../../src/queries/page.ts";
import type { OfContract, RefundFilter } from "../../src/queries/refunds.ts";
import { filledContractId, filledTime } from "./fill.ts";

/** Values for each filter: one that is added without any does not compile. */
type Samples<Filter> = {
  readonly [Name in Exclude<keyof Filter, keyof PageRequest>]-?: readonly NonNullable<Filter[Name]>[];
};

const contracts: Samples<ContractFilter> = {
  status: ["Escrow", ["Dispute", "unknown", "Escrow"]],
  reference: ["order-7"],
  metadata1: ["tenant-7"],
  metadata2: ["gold"],
  metadata3: ["nothing"],
  metadata4: ["nothing"],
  changedSince: [filledTime(100)],
};

const refunds: Samples<RefundFilter> = {
  contractId: [filledContractId(7)],
  state: ["initiated"],
  olderThan: [0],
  changedSince: [filledTime(100)],
};

const deliveries: Samples<DeliveryFilter> = {
  contractId: [filledContractId(7)],
  event: ["payment.completed"],
  outcome: ["applied", "quarantined"],
  since: [filledTime(100)],
};

const anomalies: Samples<AnomalyFilter> = { contractId: [filledContractId(8)], kind: ["gap"] };

const jobs: Samples<JobFilter> = {
  state: ["dead"],
  handler: ["rare"],
  event: ["payment.completed"],
  since: [filledTime(100)],
  failedOf: [filledContractId(3)],
};

const ofContract: Samples<OfContract> = { contractId: [filledContractId(9)] };

export interface ListCase {
  readonly title: string;
  /** How many filters it has. */
  readonly filters: number;
  /** Its one filter has no index: nearly every delivery is applied. */
  readonly isPicked: boolean;
  readonly list: (mirror: Mirror, page: PageRequest) => Promise<Page<unknown>>;
}

/** Every combination of every list's filters. */
export const listCases: readonly ListCase[] = [
  ...casesOf("contracts", contracts, (mirror, filter) => mirror.contracts.list(filter)),
  ...casesOf("refunds", refunds, (mirror, filter) => mirror.refunds.list(filter)),
  ...casesOf("deliveries", deliveries, (mirror, filter) => mirror.deliveries.list(filter)),
  ...casesOf("anomalies", anomalies, (mirror, filter) => mirror.anomalies.list(filter)),
  ...casesOf("jobs", jobs, (mirror, filter) => mirror.jobs.list(filter)),
  ...casesOf("payments", ofContract, (mirror, filter) => mirror.payments.list(filter)),
  ...casesOf("disputes", ofContract, (mirror, filter) => mirror.disputes.list(filter)),
  ...casesOf("quarantine", {}, (mirror, filter) => mirror.quarantine.list(filter)),
];

function casesOf(
  name: string,
  samples: Readonly<Record<string, readonly unknown[]>>,
  list: (mirror: Mirror, filter: PageRequest) => Promise<Page<unknown>>,
): ListCase[] {
  return combinationsOf(Object.entries(samples)).map((filter) => ({
    title: `${name} ${JSON.stringify(filter)}`,
    filters: Object.keys(filter).length,
    isPicked: "outcome" in filter && filter.outcome === "applied",
    list: (mirror, page) => list(mirror, { ...filter, ...page }),
  }));
}

function combinationsOf(samples: readonly (readonly [string, readonly unknown[]])[]): object[] {
  const [first, ...rest] = samples;
  if (first === undefined) return [{}];
  const [name, values] = first;
  return combinationsOf(rest).flatMap((others) => [
    others,
    ...values.map((value) => ({ [name]: value, ...others })),
  ]);
}

/** Two pages, where there are two: the second begins at a cursor. */
export async function turnPages(mirror: Mirror, { list }: ListCase): Promise<void> {
  const { nextCursor } = await list(mirror, { limit: 1 });
  if (nextCursor !== null) await list(mirror, { limit: 1, cursor: nextCursor });
}
