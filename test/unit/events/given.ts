import type { EventFacts } from "../../../src/events/event.ts";
import { parseEvent } from "../../../src/events/parse.ts";
import fixtures from "../../fixtures/deliveries.json" with { type: "json" };

export const guid = "a1b2c3d4-e5f6-7890-abcd-ef1234567890";

export const bodies = new Map(
  fixtures.deliveries.map(({ name, bodyBase64 }) => [name, Buffer.from(bodyBase64, "base64")]),
);

export const complete = {
  id: guid,
  event: "milestone.payment.completed",
  createdAt: "2026-01-19T14:30:00Z",
  data: {
    contractId: "CNT-1",
    milestoneId: "13",
    disputeId: "D-1",
    reference: "order-7",
    status: "Escrow",
    previousStatus: "Approved",
    amount: 600.5,
    currency: "SAR",
    paymentId: "PAY-1",
    transactionId: "TXN-1",
    invoiceId: "INV-1",
    timestamp: "2026-01-19T14:30:01.4874015Z",
    metadata: { metadata1: "one", metadata2: "", metadata3: "three", metadata4: "four", reference: "other" },
  },
};

export const completeFacts: EventFacts = {
  event: "milestone.payment.completed",
  payloadId: guid,
  contractId: "CNT-1",
  milestoneId: "13",
  disputeId: "D-1",
  transactionId: "TXN-1",
  paymentId: "PAY-1",
  invoiceId: "INV-1",
  reference: "order-7",
  status: "Escrow",
  previousStatus: "Approved",
  amountMinor: 60_050,
  currency: "SAR",
  occurredAt: "2026-01-19T14:30:01.4874015Z",
  orderKey: "2026-01-19T14:30:01.487401500",
  metadata: { metadata1: "one", metadata2: "", metadata3: "three", metadata4: "four" },
  flags: [],
};

export function bytes(body: string | object): Uint8Array {
  return Buffer.from(typeof body === "string" ? body : JSON.stringify(body));
}

export function factsOf(body: Uint8Array | string | object): EventFacts {
  const parsed = parseEvent(body instanceof Uint8Array ? body : bytes(body));
  if (!parsed.ok) throw new Error(`${parsed.error.reason}: ${parsed.error.detail}`);
  return parsed.value.facts;
}

export function problemOf(body: Uint8Array | string | object): string {
  const parsed = parseEvent(body instanceof Uint8Array ? body : bytes(body));
  return parsed.ok ? "ok" : `${parsed.error.reason}: ${parsed.error.detail}`;
}

/** The complete event with other data; `raw` puts a value as it is written into `data`. */
export function withData(data: object): object {
  return { ...complete, data: { ...complete.data, ...data } };
}

export function withRaw(field: string, raw: string): string {
  return `{"event":"payment.completed","createdAt":"2026-01-19T14:30:00Z","data":{"contractId":"CNT-1","${field}":${raw}}}`;
}

export function recase(value: object, change: (key: string) => string): object {
  const members = Object.entries(value).map(([key, inner]: [string, unknown]) => [
    change(key),
    typeof inner === "object" && inner !== null ? recase(inner, change) : inner,
  ]);
  return Object.fromEntries(members);
}

export function pascal(key: string): string {
  return key.charAt(0).toUpperCase() + key.slice(1);
}
