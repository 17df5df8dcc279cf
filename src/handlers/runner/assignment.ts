/** Reads the deliveries and contracts for all jobs of one turn together. */
import { parseRaw } from "../../events/raw.ts";
import { contractsOf } from "../../queries/contracts.ts";
import type { MirroredContract } from "../../queries/shapes.ts";
import { monotonicMs } from "../../shared/timers.ts";
import { fromFactColumns } from "../../store/fact-columns.ts";
import type { StoreTransaction } from "../../store/store.ts";
import type { DeliveryRow, PayloadRow } from "../../store/tables/deliveries.ts";
import type { JobRow } from "../../store/tables/handlers.ts";
import { toWebhookEvent, type WebhookEvent } from "../event.ts";

/** A claimed job, with the arguments for its handler. */
export interface Assignment {
  readonly job: JobRow;
  /** Makes the event, transition, anomaly or dead job. If it throws, only this job fails. */
  readonly subject: () => unknown;
  readonly contract: MirroredContract | undefined;
  /** When they were read, by the clock that is never set back. */
  readonly readAtMs: number;
}

export async function loadAssignments(tx: StoreTransaction, jobs: readonly JobRow[]): Promise<Assignment[]> {
  if (jobs.length === 0) return [];
  const readAtMs = monotonicMs();
  const eventJobs = jobs.filter(isOfEvent);
  const keys = [...new Set(eventJobs.map(({ contentKey }) => contentKey as string))];
  const ids = [...new Set(jobs.map(({ contractId }) => contractId))].filter((id) => id !== null);
  const [deliveries, payloads, contracts] = await Promise.all([
    tx.lookup("deliveries", "contentKey", keys),
    tx.lookup("payloads", "contentKey", keys),
    contractsOf(tx, ids),
  ]);
  const byKey = new Map(deliveries.map((row) => [row.contentKey, row]));
  const payloadByKey = new Map(payloads.map((row) => [row.contentKey, row]));
  return jobs.map((job) => ({
    job,
    subject: subjectOf(job, byKey.get(job.contentKey ?? ""), payloadByKey.get(job.contentKey ?? "")),
    contract: job.contractId === null ? undefined : contracts.get(job.contractId),
    readAtMs,
  }));
}

/** Whether the subject is a delivery. All other jobs carry their subject in `payload`. */
function isOfEvent({ contentKey, payload }: JobRow): boolean {
  return contentKey !== null && payload === null;
}

/** Takes only the rows of its job: a long run must not keep the bodies of other jobs in memory. */
function subjectOf(
  job: JobRow,
  row: DeliveryRow | undefined,
  payload: PayloadRow | undefined,
): Assignment["subject"] {
  return () => (isOfEvent(job) ? eventOf(job, row, payload) : job.payload);
}

function eventOf(
  { seq }: JobRow,
  row: DeliveryRow | undefined,
  payload: PayloadRow | undefined,
): WebhookEvent {
  const facts = row === undefined ? null : fromFactColumns(row);
  if (row === undefined || facts === null) throw new Error(`the delivery of job ${seq} is gone`);
  return toWebhookEvent(facts, row.webhookId, () =>
    payload === undefined ? null : parseRaw(payload.body, payload.headers["content-encoding"]),
  );
}
