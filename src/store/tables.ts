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
import type { SnapshotFields } from "../events/snapshot.ts";

/** The rows of every table, as the code sees them. */
export interface Tables {
  /** Every delivery with a valid signature, once. */
  deliveries: DeliveryRow;
  /** Raw bodies and headers. */
  payloads: PayloadRow;
  /** Inputs of contracts that are no deliveries: API reads, own requests and the answers to them. */
  inputs: InputRow;
  /** Own calls that were begun, before they were sent. */
  intents: IntentRow;
  /** The contracts. */
  contracts: ContractRow;
  /** The milestones. */
  milestones: MilestoneRecord;
  /** The refunds. */
  refunds: RefundRow;
  /** The payments. */
  payments: PaymentRecord;
  /** The disputes. */
  disputes: DisputeRecord;
  /** The history of contracts and milestones. */
  transitions: TransitionRecord;
  /** The anomalies that the mirror noticed. */
  anomalies: AnomalyRow;
  /** The signing secrets that have verified a delivery, by fingerprint. */
  secrets: SecretRow;
  /** The registered handlers. */
  subscriptions: SubscriptionRow;
  /** The jobs of handlers. */
  jobs: JobRow;
  /** The processes that run jobs. */
  workers: WorkerRow;
  /** Failures of handlers inside a delivery's transaction. */
  failures: FailureRow;
  /** Reconciliations that have begun and not ended. */
  progress: ProgressRow;
  /** The newest change of the signing secret. */
  rotations: RotationRow;
  /** Work that one process does for all, and who does it now. */
  leases: LeaseRow;
}

/** The name of a table. */
export type TableName = keyof Tables;

/** The large field of a delivery: what telling two apart, and a list of them, does not need. */
export const heavyFields = ["facts"] as const;

/** The outcomes of stored deliveries. */
export const storedOutcomes = ["applied", "duplicate", "quarantined", "dismissed"] as const;

/** One received delivery. Its ids and facts stay when the raw bytes are pruned, so a rebuild gives the same result. */
export interface DeliveryRow extends FactColumns {
  /** In order of arrival; given by the database. */
  readonly seq: number;
  /** The webhook id for a delivery that claims it, else `sha256:` and the digest: a row id of its own. */
  readonly id: string;
  /** As received: the header, else the payload's id, else the digest of the body. */
  readonly webhookId: string;
  /** The first minute written in the body, then the body's SHA-256, hex: one for each content, in the order of time. */
  readonly contentKey: string;
  /** The result: `applied`, `quarantined` and so on. */
  readonly outcome: (typeof storedOutcomes)[number];
  /** Why it was not applied; `null` if it was. */
  readonly reason: string | null;
  /** How many times it arrived. */
  readonly attempts: number;
  /** When it first arrived. ISO 8601. */
  readonly receivedAt: string;
  /** When its newest copy arrived. ISO 8601. */
  readonly lastReceivedAt: string;
  /** The id of the secret that verified it. */
  readonly secretId: string;
  /** The id of the delivery whose ids this one came with, where the two contradict each other. */
  readonly contradicts: string | null;
}

/** The raw bytes of a delivery, in a row of their own: they can go, and everything that must hold for ever stays. */
export interface PayloadRow {
  /** The delivery whose body this is. */
  readonly contentKey: string;
  /** The delivery's: old rows go by it. */
  readonly receivedAt: string;
  /** Without the signature. */
  readonly headers: Readonly<Record<string, string>>;
  /** The raw bytes as received. */
  readonly body: Uint8Array;
}

/** An input of the fold that is no delivery: an API read, a request of our own, or the answer to one. */
export interface InputRow {
  /** In order of arrival. */
  readonly seq: number;
  /** The contract. */
  readonly contractId: string;
  /** `snapshot` is an API read, `request` a call of our own, `answer` the answer to one, `redaction` a `mirror.redact()`. */
  readonly kind: "snapshot" | "request" | "answer" | "redaction";
  /** SHA-256 of what tells it from others, hex. */
  readonly digest: string;
  /** When it arrived. ISO 8601. */
  readonly receivedAt: string;
  /** Its content, as JSON. */
  readonly facts: unknown;
}

/** An own call of the API that changes something. It is stored before the call is made, and closed by what tells how it went. */
export interface IntentRow {
  /** The intent's id. */
  readonly intentId: string;
  /** The call. */
  readonly kind: "create" | "refund";
  /** The contract; `null` until a create has one. */
  readonly contractId: string | null;
  /** While it is open: the reference or the target that it holds. No two open intents have the same. */
  readonly openKey: string | null;
  /** The fields of a contract that was asked for. */
  readonly fields: SnapshotFields | null;
  /** When it was stored: ISO 8601. */
  readonly createdAt: string;
  /** When it was closed: ISO 8601. */
  readonly closedAt: string | null;
  /** When an anomaly told that it is still open: ISO 8601. */
  readonly toldAt: string | null;
}

/** One contract, and when its row last changed. */
export interface ContractRow extends ContractRecord {
  /** When we last committed a change of it. */
  readonly changedAt: string;
}

/** One refund, and when its row last changed. */
export interface RefundRow extends RefundRecord {
  /** Order key of `initiatedAt`, `""` where that is not known: times in the service's own form are in no order. */
  readonly initiatedKey: string;
  /** When the mirror last changed this row. ISO 8601. */
  readonly changedAt: string;
}

/** The fold's anomalies have a `position`; those between deliveries or contracts have none and stay for good. */
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

/** A signing secret that has verified a delivery, by its fingerprint. */
export interface SecretRow {
  /** A one-way mark of the secret. The secret itself is never stored. */
  readonly fingerprint: string;
  /** The secret's id in the options. */
  readonly secretId: string;
  /** When it first verified a delivery. ISO 8601. */
  readonly verifiedAt: string;
}

/** A change of the signing secret. The secrets themselves are never stored. */
export interface RotationRow {
  /** Always `webhook`: there is one row. */
  readonly name: string;
  /** When it was opened, before anything was sent. ISO 8601. */
  readonly openedAt: string;
  /** The secret before it; `null` if the service did not tell. */
  readonly oldFingerprint: string | null;
  /** The new secret; `null` until the service has told it. */
  readonly fingerprint: string | null;
  /** When the app's `save` had stored the new secret. ISO 8601. */
  readonly savedAt: string | null;
  /** When the new secret was saved and had verified a delivery. ISO 8601. */
  readonly closedAt: string | null;
}

/** Work that one process at a time does for all. */
export interface LeaseRow {
  /** The work. */
  readonly name: string;
  /** Who does it. */
  readonly holder: string;
  /** Until when, unless it says so again before. ISO 8601. */
  readonly heldUntil: string;
  /** Notes of its holders, for each other and for `health()`. JSON. */
  readonly state: unknown;
}

/** A registered handler: its name, and its events or moves. */
export interface SubscriptionRow {
  /** The handler's name. */
  readonly name: string;
  /** Whether it gets events or moves, after the commit or inside the transaction. */
  readonly kind: "event" | "transition" | "transaction";
  /** `{ events }` or `{ entity, from, to }`. */
  readonly filter: unknown;
  /** The `seq` up to which older deliveries have been gone through for it; `null` once it hears of each commit. */
  readonly cursor: number | null;
  /** When it was registered. ISO 8601. */
  readonly createdAt: string;
}

/** One run of a handler, for a delivery, a transition, an anomaly, or a dead job. */
export interface JobRow {
  /** Lines go by it. */
  readonly seq: number;
  /** The handler that it is owed to. */
  readonly handler: string;
  /** `null` without one: such a job is a line of its own. */
  readonly contractId: string | null;
  /** One handler is owed one fact once. */
  readonly jobKey: string;
  /** Of the delivery that it tells of. */
  readonly contentKey: string | null;
  /** The delivery's webhook id; `null` if there is none. */
  readonly webhookId: string | null;
  /** The handler's argument, where it is not the delivery itself. JSON. */
  readonly payload: unknown;
  /** `waiting` for a job before it, `due`, `running`, `done` or `dead`. */
  readonly state: (typeof jobStates)[number];
  /** How many runs have started. */
  readonly attempts: number;
  /** When it may run. ISO 8601. */
  readonly nextAttemptAt: string;
  /** Who runs it. */
  readonly workerId: string | null;
  /** Its worker was lost in a run: it is taken alone next time. */
  readonly lost: boolean;
  /** The error of the last failed attempt, as text. */
  readonly lastError: string | null;
  /** When it was written. ISO 8601. */
  readonly createdAt: string;
  /** When it was done or dead. ISO 8601. */
  readonly finishedAt: string | null;
}

/** The states of a job. */
export const jobStates = ["waiting", "due", "running", "done", "dead"] as const;

/** A process that runs handlers. */
export interface WorkerRow {
  /** The worker's id. */
  readonly workerId: string;
  /** Which handlers it runs. */
  readonly handlers: readonly string[];
  /** Until when it counts as alive. ISO 8601. */
  readonly aliveUntil: string;
  /** Whether it is told of jobs; else it looks for them. */
  readonly listening: boolean;
}

/** How often a handler failed inside a delivery's transaction, which rolled everything else back. */
export interface FailureRow {
  /** The delivery's digest. */
  readonly digest: string;
  /** The handler. */
  readonly handler: string;
  /** The delivery's contract. */
  readonly contractId: string | null;
  /** How often it threw, or took too long. */
  readonly failures: number;
  /** How often the store failed while it ran. */
  readonly faults: number;
  /** The last error, as text. */
  readonly lastError: string;
  /** When it last failed. ISO 8601. */
  readonly changedAt: string;
}

/** A reconciliation that has begun and not ended. */
export interface ProgressRow {
  /** The run's id. */
  readonly runId: string;
  /** Its option: a run with another is another run. */
  readonly since: string | null;
  /** When it began: ISO 8601. */
  readonly startedAt: string;
  /** The contract up to which it has gone through the mirror; `null` before that. */
  readonly place: string | null;
  /** When the row was last written. ISO 8601. */
  readonly updatedAt: string;
}

/** `hex` is text in the code and bytes in the database. */
export type ColumnType = "serial" | "text" | "integer" | "boolean" | "json" | "bytes" | "hex";

export interface TableShape<Row> {
  readonly columns: { readonly [Field in keyof Row]-?: ColumnType };
  /** The fields that identify a row. An upsert replaces by them. */
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
  inputs: {
    columns: {
      seq: "serial",
      contractId: "text",
      kind: "text",
      digest: "hex",
      receivedAt: "text",
      facts: "json",
    },
    key: ["contractId", "digest"],
    unique: [],
  },
  intents: {
    columns: {
      intentId: "text",
      kind: "text",
      contractId: "text",
      openKey: "text",
      fields: "json",
      createdAt: "text",
      closedAt: "text",
      toldAt: "text",
    },
    key: ["intentId"],
    unique: ["openKey"],
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
      redactedAt: "text",
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
    columns: { fingerprint: "text", secretId: "text", verifiedAt: "text" },
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
    columns: { workerId: "text", handlers: "json", aliveUntil: "text", listening: "boolean" },
    key: ["workerId"],
    unique: [],
  },
  failures: {
    columns: {
      digest: "hex",
      handler: "text",
      contractId: "text",
      failures: "integer",
      faults: "integer",
      lastError: "text",
      changedAt: "text",
    },
    key: ["digest", "handler"],
    unique: [],
  },
  progress: {
    columns: { runId: "text", since: "text", startedAt: "text", place: "text", updatedAt: "text" },
    key: ["runId"],
    unique: [],
  },
  rotations: {
    columns: {
      name: "text",
      openedAt: "text",
      oldFingerprint: "text",
      fingerprint: "text",
      savedAt: "text",
      closedAt: "text",
    },
    key: ["name"],
    unique: [],
  },
  leases: {
    columns: { name: "text", holder: "text", heldUntil: "text", state: "json" },
    key: ["name"],
    unique: [],
  },
};

/** The fields that a read of these alone leaves out. */
export function allBut<Name extends TableName>(
  table: Name,
  fields: readonly (keyof Tables[Name] & string)[],
): (keyof Tables[Name] & string)[] {
  const all = Object.keys(tables[table].columns) as (keyof Tables[Name] & string)[];
  return all.filter((field) => !fields.includes(field));
}
