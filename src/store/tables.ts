import type { DisputeRecord, MilestoneRecord, PaymentRecord, TransitionRecord } from "../domain/records.ts";
import {
  contracts,
  milestones,
  refunds,
  payments,
  disputes,
  transitions,
  anomalies,
  type ContractRow,
  type RefundRow,
  type AnomalyRow,
} from "./tables/contracts.ts";
import {
  deliveries,
  payloads,
  secrets,
  type DeliveryRow,
  type PayloadRow,
  type SecretRow,
} from "./tables/deliveries.ts";
import {
  subscriptions,
  jobs,
  workers,
  failures,
  type SubscriptionRow,
  type JobRow,
  type WorkerRow,
  type FailureRow,
} from "./tables/handlers.ts";
import { inputs, intents, type InputRow, type IntentRow } from "./tables/inputs.ts";
import {
  progress,
  rotations,
  leases,
  type ProgressRow,
  type RotationRow,
  type LeaseRow,
} from "./tables/operations.ts";
import type { TableShape } from "./tables/shape.ts";

/** The rows of every table, as the code sees them. */
export interface Tables {
  /** Every delivery with a valid signature, once. */
  deliveries: DeliveryRow;
  /** Raw bodies and headers. */
  payloads: PayloadRow;
  /** Inputs of contracts that are not deliveries: API reads, own requests and the answers to them. */
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

/** The tables as data: the stores read, write and convert by this alone, so that they can't differ in behaviour. */
export const tables: { readonly [Name in TableName]: TableShape<Tables[Name]> } = {
  deliveries,
  payloads,
  inputs,
  intents,
  contracts,
  milestones,
  refunds,
  payments,
  disputes,
  transitions,
  anomalies,
  secrets,
  subscriptions,
  jobs,
  workers,
  failures,
  progress,
  rotations,
  leases,
};

/** The fields that a read of these alone leaves out. */
export function allBut<Name extends TableName>(
  table: Name,
  fields: readonly (keyof Tables[Name] & string)[],
): (keyof Tables[Name] & string)[] {
  const all = Object.keys(tables[table].columns) as (keyof Tables[Name] & string)[];
  return all.filter((field) => !fields.includes(field));
}
