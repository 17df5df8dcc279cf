/** Rows to store, of which a test says what matters. */
import { emptyState } from "../../src/domain/records.ts";
import type { NewRow } from "../../src/store/store.ts";
import type { ContractRow } from "../../src/store/tables/contracts.ts";
import type { DeliveryRow, PayloadRow } from "../../src/store/tables/deliveries.ts";
import { sha256 } from "../support/delivery.ts";

export function deliveryRow(id: string, shape: Partial<DeliveryRow> = {}): NewRow<"deliveries"> {
  return {
    id,
    webhookId: id,
    payloadId: null,
    contentKey: sha256(id),
    event: "contract.created",
    contractId: "CNT-1",
    milestoneId: null,
    occurredAt: null,
    outcome: "applied",
    reason: null,
    attempts: 1,
    receivedAt: "2026-04-14T14:30:00.000Z",
    lastReceivedAt: "2026-04-14T14:30:00.000Z",
    secretId: "default",
    contradicts: null,
    facts: null,
    ...shape,
  };
}

export function payloadRow(shape: Partial<PayloadRow> = {}): PayloadRow {
  return {
    contentKey: sha256("payload"),
    receivedAt: "2026-04-14T14:30:00.000Z",
    headers: {},
    body: Buffer.from("x"),
    ...shape,
  };
}

export function contractRow(contractId: string, shape: Partial<ContractRow> = {}): ContractRow {
  const { contract } = emptyState(contractId);
  return { ...contract, status: "Escrow", changedAt: "2026-04-14T14:30:00.000Z", ...shape };
}

export function jobRow(): NewRow<"jobs"> {
  return {
    handler: "h",
    contractId: "C",
    jobKey: "k",
    contentKey: null,
    webhookId: null,
    payload: {},
    state: "due",
    attempts: 0,
    claims: 0,
    nextAttemptAt: "",
    workerId: null,
    lost: false,
    lastError: null,
    createdAt: "",
    finishedAt: null,
  };
}
