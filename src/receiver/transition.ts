/**
 * The step *transition*: what the newly applied inputs make of their contracts. It reads each contract once, folds
 * all of its new inputs, and leaves the writing to *persist*.
 */
import { advance, attachmentsRead, fold, type Attachment, type FoldOptions } from "../domain/fold.ts";
import { familyOf, type FoldInput } from "../domain/input.ts";
import { groupBy } from "../shared/group-by.ts";
import { fromFactColumns } from "../store/fact-columns.ts";
import { emptyState, type ContractRecord, type ContractState } from "../domain/records.ts";
import type { StoreTransaction } from "../store/store.ts";
import { toInput, type ContractChange } from "./arrival.ts";

export async function transition(
  tx: StoreTransaction,
  applied: readonly FoldInput[],
  options: FoldOptions,
): Promise<ContractChange[]> {
  const inputs = groupByContract(applied);
  const contracts = await loadContracts(tx, [...inputs.keys()]);
  const newest = new Map([...inputs].filter(([id, added]) => isAhead(contracts.get(id), added)));
  const late = [...inputs.keys()].filter((id) => !newest.has(id));
  return [
    ...(await advanceAll(tx, contracts, newest, options)),
    ...(await refold(tx, contracts, late, options)),
  ];
}

/** Folds contracts anew from their stored inputs; one that has none is left out. */
export async function refold(
  tx: StoreTransaction,
  contracts: ReadonlyMap<string, ContractRecord>,
  contractIds: readonly string[],
  options: FoldOptions,
): Promise<ContractChange[]> {
  const everything = contractIds.filter((id) => contracts.has(id));
  const states = await loadStates(tx, contracts, () => everything);
  const inputs = await loadInputs(tx, contractIds);
  return [...inputs].map(([id, stored]) => ({
    before: states.get(id) ?? emptyState(id),
    after: fold(id, stored, options),
  }));
}

/** The contracts' own rows, kept from every other writer until the commit. */
export async function loadContracts(
  tx: StoreTransaction,
  contractIds: readonly string[],
): Promise<Map<string, ContractRecord>> {
  const rows = await tx.lockContracts(contractIds);
  return new Map(rows.map((row) => [row.contractId, row]));
}

/** Inputs that come after all that was folded are steps from where the contract stands. */
async function advanceAll(
  tx: StoreTransaction,
  contracts: ReadonlyMap<string, ContractRecord>,
  inputs: ReadonlyMap<string, FoldInput[]>,
  options: FoldOptions,
): Promise<ContractChange[]> {
  const readers = (attachment: Attachment): string[] =>
    [...inputs]
      .filter(
        ([id, added]) =>
          contracts.has(id) && added.some((input) => attachmentsRead(input).includes(attachment)),
      )
      .map(([id]) => id);
  const states = await loadStates(tx, contracts, readers);
  return [...inputs].map(([id, added]) => {
    const before = states.get(id) ?? emptyState(id);
    return { before, after: advance(before, added, options) };
  });
}

/** The states of known contracts, each attachment for those that `readers` names. */
async function loadStates(
  tx: StoreTransaction,
  contracts: ReadonlyMap<string, ContractRecord>,
  readers: (attachment: Attachment) => readonly string[],
): Promise<Map<string, ContractState>> {
  const states = new Map([...contracts].map(([id, contract]) => [id, openState(contract)]));
  for (const row of await tx.lookup("milestones", "contractId", readers("milestones")))
    states.get(row.contractId)?.milestones.set(row.milestoneId, row);
  for (const row of await tx.lookup("refunds", "contractId", readers("refunds")))
    states.get(row.contractId)?.refunds.set(row.refundId, row);
  for (const row of await tx.lookup("payments", "contractId", readers("payments")))
    states.get(row.contractId)?.payments.set(row.paymentKey, row);
  for (const row of await tx.lookup("disputes", "contractId", readers("disputes")))
    states.get(row.contractId)?.disputes.set(row.disputeKey, row);
  return states;
}

/** Every input of these contracts that is stored, applied deliveries and snapshots, in no order. */
export async function loadInputs(
  tx: StoreTransaction,
  contractIds: readonly string[],
): Promise<Map<string, FoldInput[]>> {
  const deliveries = await tx.lookup("deliveries", "contractId", contractIds);
  const snapshots = await tx.lookup("snapshots", "contractId", contractIds);
  const events = deliveries.flatMap((row): FoldInput[] => {
    const facts = row.outcome === "applied" ? fromFactColumns(row) : null;
    return facts === null ? [] : [toInput(row, facts)];
  });
  return groupByContract([...events, ...snapshots.map((row): FoldInput => ({ kind: "snapshot", ...row }))]);
}

function isAhead(contract: ContractRecord | undefined, added: readonly FoldInput[]): boolean {
  return added.every(({ facts }) => facts.orderKey > (contract?.lastKey ?? ""));
}

/** By contract, less what the fold does not take in: a `webhook.test`, an event of no family (semantics §5.3). */
function groupByContract(inputs: readonly FoldInput[]): Map<string, FoldInput[]> {
  const folded = inputs.filter(
    ({ kind, facts }) => kind === "snapshot" || familyOf(facts.event) !== undefined,
  );
  return groupBy(folded, ({ facts }) => facts.contractId);
}

function openState(contract: ContractRecord) {
  return {
    contract,
    milestones: new Map(),
    refunds: new Map(),
    payments: new Map(),
    disputes: new Map(),
    transitions: [],
    anomalies: [],
  };
}
