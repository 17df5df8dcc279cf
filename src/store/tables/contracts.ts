/** The tables that the fold writes: they can be made again at any time. */
import type { AnomalyKind } from "../../domain/anomaly.ts";
import type {
  AnomalyRecord,
  ContractRecord,
  DisputeRecord,
  MilestoneRecord,
  PaymentRecord,
  RefundRecord,
  TransitionRecord,
} from "../../domain/records.ts";
import type { TableShape } from "./shape.ts";

/** One contract, and when its row last changed. */
export interface ContractRow extends ContractRecord {
  /** When we last committed a change of it. */
  readonly changedAt: string;
}

export const contracts: TableShape<ContractRow> = {
  columns: {
    contractId: "text",
    status: "text",
    statusSince: "text",
    statusKey: "text",
    statusDerived: "boolean",
    previousStatus: "text",
    reference: "text",
    title: "text",
    description: "text",
    notes: "text",
    businessName: "text",
    serviceType: "text",
    amountMinor: "integer",
    currency: "text",
    metadata1: "text",
    metadata2: "text",
    metadata3: "text",
    metadata4: "text",
    buyer: "json",
    seller: "json",
    createdAt: "text",
    updatedAt: "text",
    syncedAt: "text",
    lastKey: "text",
    transitionCount: "integer",
    anomalyCount: "integer",
    redactedAt: "text",
    changedAt: "text",
  },
  key: ["contractId"],
  unique: [],
  long: ["reference", "metadata1", "metadata2", "metadata3", "metadata4"],
};

export const milestones: TableShape<MilestoneRecord> = {
  columns: {
    contractId: "text",
    milestoneId: "text",
    name: "text",
    description: "text",
    status: "text",
    statusSince: "text",
    statusKey: "text",
    previousStatus: "text",
    amountMinor: "integer",
    dueDate: "text",
  },
  key: ["contractId", "milestoneId"],
  unique: [],
};

/** One refund, and when its row last changed. */
export interface RefundRow extends RefundRecord {
  /** `initiatedAt` as text that sorts, because the service's own form does not. `""` if it is unknown. */
  readonly initiatedKey: string;
  /** When the mirror last changed this row. ISO 8601. */
  readonly changedAt: string;
}

export const refunds: TableShape<RefundRow> = {
  columns: {
    contractId: "text",
    refundKey: "text",
    refundId: "text",
    milestoneId: "text",
    scope: "text",
    kind: "text",
    state: "text",
    inferred: "boolean",
    amountMinor: "integer",
    currency: "text",
    requestedAt: "text",
    initiatedAt: "text",
    succeededAt: "text",
    initiatedKey: "text",
    changedAt: "text",
  },
  key: ["contractId", "refundKey"],
  unique: [],
  shared: "refundKey",
};

export const payments: TableShape<PaymentRecord> = {
  columns: {
    contractId: "text",
    paymentKey: "text",
    paymentId: "text",
    milestoneId: "text",
    transactionId: "text",
    invoiceId: "text",
    amountMinor: "integer",
    currency: "text",
    completedAt: "text",
  },
  key: ["contractId", "paymentKey"],
  unique: [],
};

export const disputes: TableShape<DisputeRecord> = {
  columns: {
    contractId: "text",
    disputeKey: "text",
    disputeId: "text",
    milestoneId: "text",
    raisedAt: "text",
  },
  key: ["contractId", "disputeKey"],
  unique: [],
};

export const transitions: TableShape<TransitionRecord> = {
  columns: {
    contractId: "text",
    position: "integer",
    entity: "text",
    milestoneId: "text",
    from: "text",
    to: "text",
    event: "text",
    webhookId: "text",
    occurredAt: "text",
    moved: "boolean",
    derived: "boolean",
    source: "text",
    anomaly: "text",
  },
  key: ["contractId", "position"],
  unique: [],
};

/** An anomaly of the fold has a `position`. One between deliveries or contracts has none, and is never removed. */
export interface AnomalyRow extends Omit<AnomalyRecord, "contractId" | "position"> {
  /** In order of insertion. */
  readonly seq: number;
  /** The contract; `null` if there is none. */
  readonly contractId: string | null;
  /** Its place among those of the contract's history; `null` for one between deliveries or contracts. */
  readonly position: number | null;
  /** The kind of anomaly. */
  readonly kind: AnomalyKind;
}

export const anomalies: TableShape<AnomalyRow> = {
  columns: {
    seq: "serial",
    contractId: "text",
    position: "integer",
    kind: "text",
    milestoneId: "text",
    webhookId: "text",
    detail: "text",
    at: "text",
  },
  key: ["contractId", "position"],
  unique: [],
};
