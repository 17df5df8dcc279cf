/** The step *persist*: writes what changed of each contract, and only that, in the deliveries' own transaction. */
import { isDeepStrictEqual } from "node:util";
import { attachments, type Attachment } from "../domain/fold.ts";
import { familyOf, type FoldInput } from "../domain/input.ts";
import type { RefundRecord } from "../domain/records.ts";
import { isKnownEventType } from "../events/event.ts";
import type { FieldOf, StoreTransaction } from "../store/store.ts";
import type { ContractChange } from "./arrival.ts";
import { lastingAnomaly } from "./lasting-anomaly.ts";

/** @param done.inputs what was newly applied: an event of no family changes no contract and is noted by itself */
export async function persist(
  tx: StoreTransaction,
  done: { readonly inputs: readonly FoldInput[]; readonly changes: readonly ContractChange[] },
  changedAt: string,
): Promise<void> {
  await flagUnknownEvents(tx, done.inputs, changedAt);
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
    rows.flatMap(({ refunds }) => refunds),
  );
  await tx.upsert("payments", rows.flatMap(({ payments }) => payments).map(stamp));
  await tx.upsert("disputes", rows.flatMap(({ disputes }) => disputes).map(stamp));
  await tx.upsert(
    "transitions",
    changes.flatMap(({ after }) => after.transitions),
  );
  await tx.upsert(
    "anomalies",
    changes.flatMap(({ after }) => after.anomalies.map(stamp)),
  );
  for (const change of changes) await removeGone(tx, change);
  await flagSharedRefunds(tx, changes, changedAt);
}

/** An event of no family moves nothing, so the fold never sees it: that it is unknown is noted here (semantics §5.3). */
async function flagUnknownEvents(
  tx: StoreTransaction,
  inputs: readonly FoldInput[],
  changedAt: string,
): Promise<void> {
  const rows = inputs.flatMap((input) => {
    if (input.kind === "snapshot") return [];
    const { event, contractId, milestoneId, occurredAt } = input.facts;
    if (isKnownEventType(event) || familyOf(event) !== undefined) return [];
    const place = { contractId, milestoneId, webhookId: input.webhookId, occurredAt };
    return [lastingAnomaly("unknown-event", event, changedAt, place)];
  });
  await tx.insert("anomalies", rows);
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

/** Rows that were read say when they changed, what is folded anew does not. */
function isSame(known: object, row: object): boolean {
  return known === row || isDeepStrictEqual({ ...known, changedAt: null }, { ...row, changedAt: null });
}

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

/** One refund id on two contracts is the service's mistake or ours: each of the two is flagged, once (semantics §6). */
async function flagSharedRefunds(
  tx: StoreTransaction,
  changes: readonly ContractChange[],
  changedAt: string,
): Promise<void> {
  const added = changes.flatMap(({ before, after }) =>
    [...after.refunds.values()].filter(({ refundId }) => !before.refunds.has(refundId)),
  );
  const refundIds = [...new Set(added.map(({ refundId }) => refundId))];
  const all = await tx.lookup("refunds", "refundId", refundIds);
  for (const refundId of refundIds) {
    const holders = all.filter((refund) => refund.refundId === refundId);
    if (holders.length > 1) await flagHolders(tx, refundId, holders, changedAt);
  }
}

async function flagHolders(
  tx: StoreTransaction,
  refundId: string,
  holders: readonly RefundRecord[],
  changedAt: string,
): Promise<void> {
  const detail = `refund ${refundId} is named by more than one contract`;
  const contractIds = holders.map(({ contractId }) => contractId);
  const flagged = await tx.find("anomalies", {
    where: [
      { field: "kind", op: "=", value: "refund-id-shared" },
      { field: "contractId", op: "in", value: contractIds },
    ],
  });
  const isFlagged = (contractId: string): boolean =>
    flagged.some((anomaly) => anomaly.contractId === contractId && anomaly.detail === detail);
  // Without the milestone: whether it is known yet hangs on what came first (semantics §1.4).
  const rows = contractIds
    .filter((contractId) => !isFlagged(contractId))
    .map((contractId) => lastingAnomaly("refund-id-shared", detail, changedAt, { contractId }));
  await tx.insert("anomalies", rows);
}
