/** The tables of handlers and their jobs. */
import type { TableShape } from "./shape.ts";

/** A registered handler: its name, and its events or moves. */
export interface SubscriptionRow {
  /** The handler's name. */
  readonly name: string;
  /** Whether it gets events or moves, after the commit or inside the transaction. */
  readonly kind: "event" | "transition" | "transaction";
  /** `{ events }` or `{ entity, from, to }`. */
  readonly filter: unknown;
  /** The `seq` of the last older delivery that was checked for it. `null` once it gets each new commit. */
  readonly cursor: number | null;
  /** When it was registered. ISO 8601. */
  readonly createdAt: string;
}

export const subscriptions: TableShape<SubscriptionRow> = {
  columns: { name: "text", kind: "text", filter: "json", cursor: "integer", createdAt: "text" },
  key: ["name"],
  unique: [],
};

/** The states of a job. */
export const jobStates = ["waiting", "due", "running", "done", "dead"] as const;

/** One run of a handler, for a delivery, a transition, an anomaly, or a dead job. */
export interface JobRow {
  /** In the order in which jobs of one line run. */
  readonly seq: number;
  /** The handler that it runs. */
  readonly handler: string;
  /** The contract, if any. Jobs of one handler and contract form a line: they run one after another. */
  readonly contractId: string | null;
  /** Identifies the fact. A handler has one job for each fact. */
  readonly jobKey: string;
  /** The content key of its delivery. */
  readonly contentKey: string | null;
  /** The delivery's webhook id; `null` if there is none. */
  readonly webhookId: string | null;
  /** The handler's argument, where it is not the delivery itself. JSON. */
  readonly payload: unknown;
  /** `waiting` for a job before it, `due`, `running`, `done` or `dead`. */
  readonly state: (typeof jobStates)[number];
  /** How many runs have started. Those that a killed process ended do not count, unless the job ran alone. */
  readonly attempts: number;
  /** How often it was claimed. It only grows. So two runs differ in it even if their attempts have the same number. */
  readonly claims: number;
  /** When it may run. ISO 8601. */
  readonly nextAttemptAt: string;
  /** Who runs it. */
  readonly workerId: string | null;
  /** Its worker ended during a run. Next time it runs alone. */
  readonly lost: boolean;
  /** The error of the last failed attempt, as text. */
  readonly lastError: string | null;
  /** When it was written. ISO 8601. */
  readonly createdAt: string;
  /** When it was done or dead. ISO 8601. */
  readonly finishedAt: string | null;
}

export const jobs: TableShape<JobRow> = {
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
    claims: "integer",
    nextAttemptAt: "text",
    workerId: "text",
    lost: "boolean",
    lastError: "text",
    createdAt: "text",
    finishedAt: "text",
  },
  key: ["handler", "jobKey"],
  unique: [],
};

/** A process that runs handlers. */
export interface WorkerRow {
  /** The worker's id. */
  readonly workerId: string;
  /** Which handlers it runs. */
  readonly handlers: readonly string[];
  /** Until when it counts as alive. ISO 8601. */
  readonly aliveUntil: string;
  /** Whether it is notified of jobs. Otherwise it polls. */
  readonly listening: boolean;
}

export const workers: TableShape<WorkerRow> = {
  columns: { workerId: "text", handlers: "json", aliveUntil: "text", listening: "boolean" },
  key: ["workerId"],
  unique: [],
};

/** How often a handler failed inside a delivery's transaction. Each failure rolled the transaction back. */
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

export const failures: TableShape<FailureRow> = {
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
};
