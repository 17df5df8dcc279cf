/** The step *persist*: writes what changed of each contract, and only that, in the deliveries' own transaction. */
import { isDeepStrictEqual } from "node:util";
import { attachments, type Attachment } from "../domain/fold.ts";
import { familyOf, type FoldInput } from "../domain/input.ts";
import type { RefundRecord } from "../domain/records.ts";
import { isKnownEventType } from "../events/event.ts";
import { orderKeyOf } from "../shared/wire-time.ts";
import type { FieldOf, NewRow, StoreTransaction } from "../store/store.ts";
import type { ContractChange } from "./arrival.ts";
import { lastingAnomaly } from "./lasting-anomaly.ts";
import { flagSharedRefunds } from "./shared-refunds.ts";

/** @param done.inputs what was newly applied: an event of no family changes no contract and is noted by itself */
export async function persist(
  tx: StoreTransaction,
  done: { readonly inputs: readonly FoldInput[]; readonly changes: readonly ContractChange[] },
  changedAt: string,
): Promise<void> {
  await flagUnknownEvents(tx, done.inputs);
  const { changes } = done;
  if (changes.length === 0) return;
  const stamp = <Row extends object>(row: Row) => ({ ...row, changedAt });
  const rows = changes.map(changedRows);
  await tx.upsert("contracts", rows.flatMap(({ contracts }) => contracts).map(stamp));
  await tx.upsert(
    "milestones",
    rows.flatMap(({ milestones }) => milestones),
  );
  await tx.upsert(
    "refunds",
    rows
      .flatMap(({ refunds }) => refunds)
      .map(withInitiatedKey)
      .map(stamp),
  );
  await tx.upsert(
    "payments",
    rows.flatMap(({ payments }) => payments),
  );
  await tx.upsert(
    "disputes",
    rows.flatMap(({ disputes }) => disputes),
  );
  await tx.upsert(
    "transitions",
    changes.flatMap(({ after }) => after.transitions),
  );
  await tx.upsert(
    "anomalies",
    changes.flatMap(({ after }) => after.anomalies),
  );
  for (const change of changes) await removeGone(tx, change);
  await flagSharedRefunds(tx, changes);
}

/**
 * An event of no family moves nothing, so the fold never sees it: that it is unknown is noted here (semantics §5.3). One
 * without a time comes again when a copy of it turns out to have arrived before.
 */
async function flagUnknownEvents(tx: StoreTransaction, inputs: readonly FoldInput[]): Promise<void> {
  const rows = new Map<string, NewRow<"anomalies">>();
  for (const input of inputs) {
    if (input.kind === "snapshot" || !isOfNoFamily(input.facts.event)) continue;
    const { webhookId, receivedAt } = input;
    const { event, contractId, milestoneId, occurredAt } = input.facts;
    const at = occurredAt ?? receivedAt;
    if (at > (rows.get(webhookId)?.at ?? at)) continue;
    rows.set(webhookId, lastingAnomaly("unknown-event", event, at, { contractId, milestoneId, webhookId }));
    if (occurredAt === null) await removeUnknown(tx, contractId, webhookId);
  }
  await tx.insert("anomalies", [...rows.values()]);
}

function isOfNoFamily(event: string): boolean {
  return !isKnownEventType(event) && familyOf(event) === undefined;
}

function removeUnknown(tx: StoreTransaction, contractId: string, webhookId: string): Promise<void> {
  return tx.remove("anomalies", [
    { field: "contractId", op: "=", value: contractId },
    { field: "webhookId", op: "=", value: webhookId },
    { field: "kind", op: "=", value: "unknown-event" },
    { field: "position", op: "null" },
  ]);
}

/** The rows of a contract that are new or not as they were. Its own counts as changed with what hangs on it. */
function changedRows({ before, after }: ContractChange) {
  const milestones = changed(before.milestones, after.milestones);
  const refunds = changed(before.refunds, after.refunds);
  const payments = changed(before.payments, after.payments);
  const disputes = changed(before.disputes, after.disputes);
  const isUntouched =
    before.contract.lastKey === after.contract.lastKey &&
    isSame(before.contract, after.contract) &&
    [milestones, refunds, payments, disputes].every(({ length }) => length === 0) &&
    attachments.every((table) => before[table].size === after[table].size);
  return { contracts: isUntouched ? [] : [after.contract], milestones, refunds, payments, disputes };
}

function withInitiatedKey(refund: RefundRecord) {
  const { initiatedAt } = refund;
  return { ...refund, initiatedKey: initiatedAt === null ? "" : orderKeyOf(initiatedAt) };
}

function changed<Row extends object>(
  before: ReadonlyMap<string, Row>,
  after: ReadonlyMap<string, Row>,
): Row[] {
  const rows: Row[] = [];
  for (const [key, row] of after) {
    const known = before.get(key);
    if (known === undefined || !isSame(known, row)) rows.push(row);
  }
  return rows;
}

/** Rows that were read have what is added here, what is folded anew has not. */
function isSame(known: object, row: object): boolean {
  return known === row || isDeepStrictEqual({ ...known, ...nothingAdded }, { ...row, ...nothingAdded });
}

const nothingAdded = { changedAt: null, initiatedKey: null };

/** A refold can come out shorter than what is stored: a late event closed a gap, or told which milestone is which. */
async function removeGone(tx: StoreTransaction, change: ContractChange): Promise<void> {
  const { before, after } = change;
  const { contractId, transitionCount, anomalyCount } = after.contract;
  const isOfContract = { field: "contractId", op: "=", value: contractId } as const;
  if (transitionCount < before.contract.transitionCount)
    await tx.remove("transitions", [isOfContract, { field: "position", op: ">", value: transitionCount }]);
  if (anomalyCount < before.contract.anomalyCount)
    await tx.remove("anomalies", [isOfContract, { field: "position", op: ">", value: anomalyCount }]);
  await removeMissing(tx, "milestones", "milestoneId", change);
  await removeMissing(tx, "refunds", "refundId", change);
  await removeMissing(tx, "payments", "paymentKey", change);
  await removeMissing(tx, "disputes", "disputeKey", change);
}

async function removeMissing<Name extends Attachment>(
  tx: StoreTransaction,
  table: Name,
  field: FieldOf<Name>,
  { before, after }: ContractChange,
): Promise<void> {
  if (before[table].size === 0) return;
  const value = [...before[table].keys()].filter((key) => !after[table].has(key));
  if (value.length === 0) return;
  const { contractId } = after.contract;
  await tx.remove(table, [
    { field: "contractId", op: "=", value: contractId },
    { field, op: "in", value },
  ]);
}
