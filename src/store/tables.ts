import type { AnomalyKind } from "../domain/anomaly.ts";
import type {
  AnomalyRecord,
  ContractRecord,
  DisputeRecord,
  MilestoneRecord,
  PaymentRecord,
  RefundRecord,
  TransitionRecord,
} from "../domain/records.ts";
import type { FactColumns } from "./fact-columns.ts";
import type { SnapshotFacts } from "../events/snapshot.ts";

/** The rows of every table, as the code sees them. */
export interface Tables {
  deliveries: DeliveryRow;
  payloads: PayloadRow;
  snapshots: SnapshotRow;
  contracts: ContractRow;
  milestones: MilestoneRecord;
  refunds: RefundRow;
  payments: PaymentRecord;
  disputes: DisputeRecord;
  transitions: TransitionRecord;
  anomalies: AnomalyRow;
  secrets: SecretRow;
  subscriptions: SubscriptionRow;
  jobs: JobRow;
  workers: WorkerRow;
  failures: FailureRow;
}

export type TableName = keyof Tables;

/** The large field of a delivery: what telling two apart, and a list of them, does not need. */
export const heavyFields = ["facts"] as const;

export const storedOutcomes = ["applied", "duplicate", "quarantined", "dismissed"] as const;

/**
 * One received delivery: arrival facts, ids, and the columns of its facts, which hold every input of the fold, so that
 * the raw bytes can go (prune, redaction) and a rebuild still comes out the same.
 */
export interface DeliveryRow extends FactColumns {
  /** In order of arrival; given by the database. */
  readonly seq: number;
  /** The webhook id for a delivery that claims it, else `sha256:` and the digest: a row id of its own. */
  readonly id: string;
  /** As received: header, else payload id, else digest (semantics §4). */
  readonly webhookId: string;
  /** The first minute written in the body, then the body's SHA-256, hex: one for each content, in the order of time. */
  readonly contentKey: string;
  readonly outcome: (typeof storedOutcomes)[number];
  readonly reason: string | null;
  /** How many times it came. */
  readonly attempts: number;
  readonly receivedAt: string;
  readonly lastReceivedAt: string;
  readonly secretId: string;
  /** The id of the delivery whose ids this one came with, where the two contradict each other. */
  readonly contradicts: string | null;
}

/** The raw bytes of a delivery, in a row of their own: they can go, and everything that must hold for ever stays. */
export interface PayloadRow {
  readonly contentKey: string;
  /** The delivery's: old rows go by it. */
  readonly receivedAt: string;
  /** Without the signature. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

export interface SnapshotRow {
  readonly seq: number;
  readonly contractId: string;
  readonly digest: string;
  readonly receivedAt: string;
  readonly facts: SnapshotFacts;
}

export interface ContractRow extends ContractRecord {
  /** When we last committed a change of it. */
  readonly changedAt: string;
}

export interface RefundRow extends RefundRecord {
  /** Order key of `initiatedAt`, `""` where that is not known: times in the service's own form are in no order. */
  readonly initiatedKey: string;
  readonly changedAt: string;
}

/** The fold's anomalies have a `position`; those between deliveries or contracts have none and stay for good. */
export interface AnomalyRow extends Omit<AnomalyRecord, "contractId" | "position"> {
  readonly seq: number;
  readonly contractId: string | null;
  readonly position: number | null;
  readonly kind: AnomalyKind;
}

/** Which signing secrets have ever verified a delivery, by fingerprint (semantics §3). An open rotation is a row too. */
export interface SecretRow {
  readonly fingerprint: string;
  readonly secretId: string;
  readonly state: "verified" | "rotating";
  readonly changedAt: string;
}

/** A durable handler: its name and what it listens to. */
export interface SubscriptionRow {
  readonly name: string;
  readonly kind: "event" | "transition" | "transaction";
  /** `{ events }` or `{ entity, from, to }`. */
  readonly filter: unknown;
  /** The `seq` up to which older deliveries have been gone through for it; `null` once it hears of each commit. */
  readonly cursor: number | null;
  readonly createdAt: string;
}

/** One run that a handler owes to one fact: a delivery, a transition, an anomaly, or a dead job. */
export interface JobRow {
  /** Lines go by it. */
  readonly seq: number;
  readonly handler: string;
  /** `null` without one: such a job is a line of its own. */
  readonly contractId: string | null;
  /** One handler is owed one fact once. */
  readonly jobKey: string;
  /** Of the delivery that it tells of. */
  readonly contentKey: string | null;
  readonly webhookId: string | null;
  /** What the handler is given where it is not the delivery itself. */
  readonly payload: unknown;
  readonly state: (typeof jobStates)[number];
  /** How many runs were begun. */
  readonly attempts: number;
  readonly nextAttemptAt: string;
  /** Who runs it. */
  readonly workerId: string | null;
  /** Its worker was lost in a run: it is taken alone next time. */
  readonly lost: boolean;
  readonly lastError: string | null;
  readonly createdAt: string;
  readonly finishedAt: string | null;
}

export const jobStates = ["waiting", "due", "running", "done", "dead"] as const;

/** A process that runs handlers, for as long as it is heard of. */
export interface WorkerRow {
  readonly workerId: string;
  /** Which handlers it runs. */
  readonly handlers: readonly string[];
  readonly aliveUntil: string;
}

/** How often a handler threw inside a delivery's transaction, which rolled everything else back. */
export interface FailureRow {
  readonly digest: string;
  readonly handler: string;
  readonly failures: number;
  readonly lastError: string;
  readonly changedAt: string;
}

/** `hex` is text in the code and bytes in the database. */
export type ColumnType = "serial" | "text" | "integer" | "boolean" | "json" | "bytes" | "hex";

export interface TableShape<Row> {
  readonly columns: { readonly [Field in keyof Row]-?: ColumnType };
  /** What tells one row from another; an upsert replaces by it. */
  readonly key: readonly (keyof Row & string)[];
  /** Further unique fields: an insert that meets a taken one inserts nothing. */
  readonly unique: readonly (keyof Row & string)[];
  /** A field of the key whose value rows of several contracts may share: who writes one sees the others. */
  readonly shared?: keyof Row & string;
  /** Text of any length that is looked for. */
  readonly long?: readonly (keyof Row & string)[];
}

/** The tables as data: the stores read, write and convert by this alone, so that they can't differ in behaviour. */
export const tables: { readonly [Name in TableName]: TableShape<Tables[Name]> } = {
  deliveries: {
    columns: {
      seq: "serial",
      id: "text",
      webhookId: "text",
      payloadId: "text",
      contentKey: "hex",
      event: "text",
      contractId: "text",
      milestoneId: "text",
      occurredAt: "text",
      outcome: "text",
      reason: "text",
      attempts: "integer",
      receivedAt: "text",
      lastReceivedAt: "text",
      secretId: "text",
      contradicts: "text",
      facts: "json",
    },
    key: ["id"],
    unique: ["contentKey", "payloadId"],
  },
  payloads: {
    columns: { contentKey: "hex", receivedAt: "text", headers: "json", body: "bytes" },
    key: ["contentKey", "receivedAt"],
    unique: [],
  },
  snapshots: {
    columns: { seq: "serial", contractId: "text", digest: "hex", receivedAt: "text", facts: "json" },
    key: ["contractId", "digest"],
    unique: [],
  },
  contracts: {
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
      changedAt: "text",
    },
    key: ["contractId"],
    unique: [],
    long: ["reference", "metadata1", "metadata2", "metadata3", "metadata4"],
  },
  milestones: {
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
  },
  refunds: {
    columns: {
      contractId: "text",
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
    key: ["contractId", "refundId"],
    unique: [],
    shared: "refundId",
  },
  payments: {
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
  },
  disputes: {
    columns: {
      contractId: "text",
      disputeKey: "text",
      disputeId: "text",
      milestoneId: "text",
      raisedAt: "text",
    },
    key: ["contractId", "disputeKey"],
    unique: [],
  },
  transitions: {
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
  },
  anomalies: {
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
  },
  secrets: {
    columns: { fingerprint: "text", secretId: "text", state: "text", changedAt: "text" },
    key: ["fingerprint"],
    unique: [],
  },
  subscriptions: {
    columns: { name: "text", kind: "text", filter: "json", cursor: "integer", createdAt: "text" },
    key: ["name"],
    unique: [],
  },
  jobs: {
    columns: {
      seq: "serial",
      handler: "text",
      contractId: "text",
      jobKey: "text",
      contentKey: "hex",
      webhookId: "text",
      payload: "json",
      state: "text",
      attempts: "integer",
      nextAttemptAt: "text",
      workerId: "text",
      lost: "boolean",
      lastError: "text",
      createdAt: "text",
      finishedAt: "text",
    },
    key: ["handler", "jobKey"],
    unique: [],
  },
  workers: {
    columns: { workerId: "text", handlers: "json", aliveUntil: "text" },
    key: ["workerId"],
    unique: [],
  },
  failures: {
    columns: {
      digest: "hex",
      handler: "text",
      failures: "integer",
      lastError: "text",
      changedAt: "text",
    },
    key: ["digest", "handler"],
    unique: [],
  },
};

/** What a reading of these fields alone goes without. */
export function allBut<Name extends TableName>(
  table: Name,
  fields: readonly (keyof Tables[Name] & string)[],
): (keyof Tables[Name] & string)[] {
  const all = Object.keys(tables[table].columns) as (keyof Tables[Name] & string)[];
  return all.filter((field) => !fields.includes(field));
}
