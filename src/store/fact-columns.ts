/**
 * The facts of an event as columns of its delivery's row. `facts` leaves out absent values, and those of other columns.
 * So its text is half as long, and a commit writes fewer pages.
 */
import type { EventFacts } from "../events/event.ts";

/** The facts that have no column of their own. Absent ones are left out. */
export type StoredFacts = Partial<Omit<EventFacts, keyof Columns>>;

/** The part of a delivery's row that its facts make. */
export interface FactColumns {
  /** The event type as sent; `null` if the body could not be read. */
  readonly event: string | null;
  /** The contract. */
  readonly contractId: string | null;
  /** The milestone. */
  readonly milestoneId: string | null;
  /** When it happened. ISO 8601. */
  readonly occurredAt: string | null;
  /** The payload's `id`. `null` if it has none, or if another delivery holds that id. */
  readonly payloadId: string | null;
  /** All other facts of the body, as JSON. */
  readonly facts: StoredFacts | null;
}

/** The facts that have a column of their own. */
type Columns = Pick<FactColumns, "event" | "contractId" | "milestoneId" | "occurredAt">;

/** @param facts `null` for a body that can't be read */
export function toFactColumns(facts: EventFacts | null, claimsPayloadId: boolean): FactColumns {
  if (facts === null) return unread;
  const { event, contractId, milestoneId, occurredAt, payloadId } = facts;
  return {
    event,
    // A `webhook.test` may name none.
    contractId: contractId || null,
    milestoneId,
    occurredAt,
    payloadId: claimsPayloadId ? payloadId : null,
    facts: withoutAbsent(facts, claimsPayloadId),
  };
}

/** The facts as they were parsed; `null` for a body that could not be read. */
export function fromFactColumns(row: FactColumns): EventFacts | null {
  const { event, contractId, milestoneId, occurredAt, payloadId, facts } = row;
  if (event === null || facts === null) return null;
  // A payload id that the delivery does not claim is in `facts`, and goes before the column's null.
  return { ...absent, payloadId, ...facts, event, contractId: contractId ?? "", milestoneId, occurredAt };
}

function withoutAbsent(facts: EventFacts, claimsPayloadId: boolean): StoredFacts {
  const stored: Record<string, unknown> = {};
  for (const name of claimsPayloadId ? namesBesideId : names) {
    const value = facts[name];
    if (value !== absent[name] && !isEmpty(value)) stored[name] = value;
  }
  return stored;
}

function isEmpty(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  for (const _ in value) return false;
  return true;
}

/** How rows that are stored are read: a default that changes would change them. */
const absent: Omit<EventFacts, keyof Columns> = {
  payloadId: null,
  disputeId: null,
  transactionId: null,
  paymentId: null,
  invoiceId: null,
  reference: null,
  status: null,
  previousStatus: null,
  amountMinor: null,
  currency: "SAR",
  orderKey: "",
  metadata: {},
  flags: [],
};

const names = Object.keys(absent) as (keyof typeof absent)[];
const namesBesideId = names.filter((name) => name !== "payloadId");

const unread: FactColumns = {
  event: null,
  contractId: null,
  milestoneId: null,
  occurredAt: null,
  payloadId: null,
  facts: null,
};
