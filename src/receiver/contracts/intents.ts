/**
 * Own calls of the API that change something. Each has a row before it is sent, so that whatever happens to the call, what tells
 * of it later is known as its outcome (semantics §6): the answer, a webhook, or an API read.
 */
import { hash } from "node:crypto";
import type { FoldInput, RequestInput, StoredInput } from "../../domain/input.ts";
import { intentIdOf, requestKeyOf } from "../../domain/own-refund.ts";
import { recordKey } from "../../domain/record-key.ts";
import { groupBy } from "../../shared/group-by.ts";
import type { RefundRequestFacts } from "../../events/own-call.ts";
import { orderKeyOf, millisecondsBetween } from "../../shared/wire-time.ts";
import type { StoreTransaction } from "../../store/store.ts";
import type { IntentRow } from "../../store/tables/inputs.ts";
import type { ContractChange } from "../arrival.ts";

/** The key of an open create: it holds its reference. */
export function createKey(reference: string): string {
  return recordKey("create", reference);
}

/** The key of an open refund: it holds its target. */
export function refundKey(contractId: string, milestoneId: string | null): string {
  return recordKey("refund", contractId, milestoneId);
}

/** Own inputs and those of others, once each: what was stored before is left out. */
export async function insertInputs<Input extends StoredInput>(
  tx: StoreTransaction,
  inputs: readonly Input[],
): Promise<Input[]> {
  const wentIn = await tx.insert(
    "inputs",
    inputs.map(({ kind, digest, receivedAt, facts }) => {
      return { contractId: facts.contractId, kind, digest, receivedAt, facts };
    }),
  );
  return inputs.filter((_, index) => wentIn[index]);
}

/** Our own request of a contract, once it is known which contract that became. */
export function toCreateRequest(
  { intentId, fields, createdAt }: IntentRow,
  contractId: string,
): RequestInput {
  return {
    kind: "request",
    digest: inputDigest("create", intentId),
    receivedAt: createdAt,
    facts: { of: "create", contractId, orderKey: "", takenAt: null, fields: fields ?? {} },
  };
}

export function inputDigest(...parts: readonly string[]): string {
  return hash("sha256", JSON.stringify(parts), "hex");
}

/** The service's clock may be so far behind ours. */
const clockMsMax = 60_000;

/**
 * Closes the creates whose `contract.created` is among these: their answer may never come.
 *
 * @returns what we asked those contracts to be
 */
export async function closeCreates(
  tx: StoreTransaction,
  inputs: readonly FoldInput[],
  now: string,
): Promise<RequestInput[]> {
  const created = inputs.flatMap((input) =>
    input.kind === "event" && input.facts.event === "contract.created" && input.facts.reference
      ? [{ facts: input.facts, openKey: createKey(input.facts.reference) }]
      : [],
  );
  if (created.length === 0) return [];
  const open = await tx.lock("intents", "openKey", [...new Set(created.map(({ openKey }) => openKey))]);
  const closed = open.flatMap((intent) => {
    const found = created.find(
      ({ facts, openKey }) => openKey === intent.openKey && isAfter(facts.orderKey, intent.createdAt),
    );
    return found === undefined ? [] : [{ intent, contractId: found.facts.contractId }];
  });
  await tx.updateEach(
    "intents",
    "intentId",
    closed.map(({ intent: { intentId }, contractId }) => ({
      intentId,
      contractId,
      openKey: null,
      closedAt: now,
    })),
  );
  return insertInputs(
    tx,
    closed.map(({ intent, contractId }) => toCreateRequest(intent, contractId)),
  );
}

/** A contract that was created before we asked for ours has its reference from elsewhere. */
function isAfter(orderKey: string, createdAt: string): boolean {
  return orderKey === "" || millisecondsBetween(orderKeyOf(createdAt), orderKey) >= -clockMsMax;
}

/** Closes the refunds that no longer stand as requests alone: named, begun, or never taken by the service. */
export async function closeRefunds(
  tx: StoreTransaction,
  inputs: readonly FoldInput[],
  changes: readonly ContractChange[],
  now: string,
): Promise<void> {
  const asked = groupBy(inputs.filter(isRefundRequest), ({ facts }) => facts.contractId);
  const over = changes.flatMap(({ before, after }) => {
    const stood = [...before.refunds.values()].filter(isRequest).map((refund) => refund.refundKey);
    const own = (asked.get(after.contract.contractId) ?? []).map(({ facts }) => requestKeyOf(facts.intentId));
    return [...stood, ...own].filter((key) => after.refunds.get(key)?.state !== "requested");
  });
  const standing = await tx.lock("intents", "intentId", [...new Set(over)].map(intentIdOf));
  await tx.updateEach(
    "intents",
    "intentId",
    standing.map(({ intentId }) => ({ intentId, openKey: null, closedAt: now })),
  );
}

function isRefundRequest(input: FoldInput): input is RequestInput & { readonly facts: RefundRequestFacts } {
  return input.kind === "request" && input.facts.of === "refund";
}

function isRequest({
  refundId,
  state,
}: {
  readonly refundId: string | null;
  readonly state: string;
}): boolean {
  return refundId === null && state === "requested";
}
