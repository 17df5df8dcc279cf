/** Pages to read: every list by each filter, and by those filters together that one index answers. */
import type { Mirror } from "../../src/index.ts";
import { filledContractId, filledTime } from "../support/fill.ts";

interface PageOf {
  readonly limit: number;
  readonly cursor: string | null;
}

interface Paged {
  readonly items: readonly unknown[];
  readonly nextCursor: string | null;
}

type ReadPage = (mirror: Mirror, page: PageOf) => Promise<Paged>;

const since = filledTime(100);
const contractId = filledContractId(8);

export const lists: Readonly<Record<string, Readonly<Record<string, ReadPage>>>> = {
  "contracts.list": {
    all: ({ contracts }, page) => contracts.list(page),
    status: ({ contracts }, page) => contracts.list({ ...page, status: "Escrow" }),
    "three statuses": ({ contracts }, page) =>
      contracts.list({ ...page, status: ["Escrow", "Dispute", "unknown"] }),
    reference: ({ contracts }, page) => contracts.list({ ...page, reference: "order-8" }),
    metadata1: ({ contracts }, page) => contracts.list({ ...page, metadata1: "tenant-8" }),
    changedSince: ({ contracts }, page) => contracts.list({ ...page, changedSince: since }),
  },
  "refunds.list": {
    all: ({ refunds }, page) => refunds.list(page),
    contractId: ({ refunds }, page) => refunds.list({ ...page, contractId }),
    state: ({ refunds }, page) => refunds.list({ ...page, state: "succeeded" }),
    olderThan: ({ refunds }, page) => refunds.list({ ...page, olderThan: 0 }),
    "state and olderThan": ({ refunds }, page) => refunds.list({ ...page, state: "initiated", olderThan: 0 }),
    changedSince: ({ refunds }, page) => refunds.list({ ...page, changedSince: since }),
  },
  "deliveries.list": {
    all: ({ deliveries }, page) => deliveries.list(page),
    contractId: ({ deliveries }, page) => deliveries.list({ ...page, contractId }),
    event: ({ deliveries }, page) => deliveries.list({ ...page, event: "contract.disputed" }),
    "event and since": ({ deliveries }, page) =>
      deliveries.list({ ...page, event: "payment.completed", since }),
    applied: ({ deliveries }, page) => deliveries.list({ ...page, outcome: "applied" }),
    quarantined: ({ deliveries }, page) => deliveries.list({ ...page, outcome: "quarantined" }),
    since: ({ deliveries }, page) => deliveries.list({ ...page, since }),
  },
  "quarantine.list": { all: ({ quarantine }, page) => quarantine.list(page) },
  "anomalies.list": {
    all: ({ anomalies }, page) => anomalies.list(page),
    contractId: ({ anomalies }, page) => anomalies.list({ ...page, contractId }),
    kind: ({ anomalies }, page) => anomalies.list({ ...page, kind: "gap" }),
  },
  "jobs.list": {
    all: ({ jobs }, page) => jobs.list(page),
    state: ({ jobs }, page) => jobs.list({ ...page, state: "done" }),
    handler: ({ jobs }, page) => jobs.list({ ...page, handler: "rare" }),
  },
  "payments.list": {
    all: ({ payments }, page) => payments.list(page),
    contractId: ({ payments }, page) => payments.list({ ...page, contractId }),
  },
  "disputes.list": {
    all: ({ disputes }, page) => disputes.list(page),
    contractId: ({ disputes }, page) => disputes.list({ ...page, contractId: filledContractId(9) }),
  },
};

/** Two filters, the second of which meets no row that the first has: such a page looks at all that it may. */
export const inVain: ReadPage = ({ contracts }, page) =>
  contracts.list({ ...page, status: "nothing", changedSince: since });
