/** The step *persist*: writes what changed of each contract, and only that, in the deliveries' own transaction. */
import { attachmentKeys, attachments, type Attachment } from "../domain/fold.ts";
import { familyOf, type FoldInput } from "../domain/input.ts";
import type { RefundRecord } from "../domain/records.ts";
import { isKnownEventType } from "../events/event.ts";
import { createPace, type Pace } from "../shared/pace.ts";
import { orderKeyOf } from "../shared/wire-time.ts";
import type { Condition, NewRow, StoreTransaction } from "../store/store.ts";
import type { TableName, Tables } from "../store/tables.ts";
import type { ContractChange } from "./arrival.ts";
import { differenceOf } from "./contracts/difference.ts";
import { lastingAnomaly } from "./contracts/lasting-anomaly.ts";
import { flagSharedRefunds } from "./contracts/shared-refunds.ts";

/** @param done.inputs the newly applied inputs. An event of no family changes no contract, and is noted alone. */
export async function persist(
  tx: StoreTransaction,
  done: { readonly inputs: readonly FoldInput[]; readonly changes: readonly ContractChange[] },
  changedAt: string,
): Promise<void> {
  await flagUnknownEvents(tx, done.inputs);
  const { changes } = done;
  if (changes.length === 0) return;
  const pace = createPace();
  const rows = await differenceOf(changes, pace);
  const stamp = <Row extends object>(row: Row) => ({ ...row, changedAt });
  await write(tx, "contracts", rows.contracts.map(stamp), pace);
  await write(tx, "milestones", rows.milestones, pace);
  await write(tx, "refunds", rows.refunds.map(withInitiatedKey).map(stamp), pace);
  await write(tx, "payments", rows.payments, pace);
  await write(tx, "disputes", rows.disputes, pace);
  await write(tx, "transitions", rows.transitions, pace);
  await write(tx, "anomalies", rows.anomalies, pace);
  for (const change of changes) await removeGone(tx, change);
  await flagSharedRefunds(tx, changes);
}

/** How many rows are written between two pauses, or removed in one statement. */
const sliceRows = 250;

async function write<Name extends TableName>(
  tx: StoreTransaction,
  table: Name,
  rows: readonly NewRow<Name>[],
  pace: Pace,
): Promise<void> {
  for (let start = 0; start < rows.length; start += sliceRows) {
    await tx.upsert(table, rows.slice(start, start + sliceRows));
    await pace();
  }
}

/**
 * Notes unknown events (semantics §5.3). The fold never sees an event of no family, because it moves nothing. One without a
 * time can come here again, if a copy that arrived earlier is committed later.
 */
async function flagUnknownEvents(tx: StoreTransaction, inputs: readonly FoldInput[]): Promise<void> {
  const rows = new Map<string, NewRow<"anomalies">>();
  for (const input of inputs) {
    if (input.kind !== "event" || !isOfNoFamily(input.facts.event)) continue;
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

function withInitiatedKey(refund: RefundRecord) {
  const began = refund.initiatedAt ?? refund.requestedAt;
  return { ...refund, initiatedKey: began === null ? "" : orderKeyOf(began) };
}

/** A refold can have fewer rows than are stored: a late event closed a gap, or showed which milestone is which. */
async function removeGone(tx: StoreTransaction, change: ContractChange): Promise<void> {
  const { before, after } = change;
  const { contractId, transitionCount, anomalyCount } = after.contract;
  const isOfContract = { field: "contractId", op: "=", value: contractId } as const;
  if (transitionCount < before.contract.transitionCount)
    await tx.remove("transitions", [isOfContract, { field: "position", op: ">", value: transitionCount }]);
  if (anomalyCount < before.contract.anomalyCount)
    await tx.remove("anomalies", [isOfContract, { field: "position", op: ">", value: anomalyCount }]);
  for (const table of attachments) await removeMissing(tx, table, change);
}

async function removeMissing(
  tx: StoreTransaction,
  table: Attachment,
  { before, after }: ContractChange,
): Promise<void> {
  const gone = [...before[table].keys()].filter((key) => !after[table].has(key));
  for (let start = 0; start < gone.length; start += sliceRows) {
    const where = [
      { field: "contractId", op: "=", value: after.contract.contractId },
      { field: attachmentKeys[table], op: "in", value: gone.slice(start, start + sliceRows) },
    ];
    await tx.remove(table, where as unknown as Condition<Tables[Attachment]>[]);
  }
}
