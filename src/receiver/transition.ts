/**
 * The step *transition*: what the newly applied inputs make of their contracts. It reads each contract once, folds
 * all of its new inputs, and leaves the writing to *persist*.
 */
import { advance, fold, isNewest, type FoldOptions } from "../domain/fold.ts";
import { familyOf, type FoldInput } from "../domain/input.ts";
import { emptyState, type ContractState } from "../domain/records.ts";
import type { StoreReader, StoreTransaction } from "../store/store.ts";
import type { Arrival, Committed } from "./arrival.ts";

/** One contract before and after a commit. */
export interface ContractChange {
  readonly before: ContractState;
  readonly after: ContractState;
}

export async function transition(
  tx: StoreTransaction,
  committed: readonly Committed[],
  options: FoldOptions,
): Promise<ContractChange[]> {
  const inputs = groupInputs(committed);
  const states = await loadStates(tx, [...inputs.keys()]);
  const changes: ContractChange[] = [];
  for (const [contractId, added] of inputs) {
    const before = states.get(contractId) ?? emptyState(contractId);
    changes.push({ before, after: await foldIn(tx, before, added, options) });
  }
  return changes;
}

/** Everything that is known of these contracts, locked in one order. */
export async function loadStates(
  tx: StoreTransaction,
  contractIds: readonly string[],
): Promise<Map<string, ContractState>> {
  const ids = [...contractIds].sort();
  const contracts = await tx.lookup("contracts", "contractId", ids);
  const known = contracts.map(({ contractId }) => contractId);
  const states = new Map(contracts.map((contract) => [contract.contractId, openState(contract)]));
  for (const row of await tx.lookup("milestones", "contractId", known))
    states.get(row.contractId)?.milestones.set(row.milestoneId, row);
  for (const row of await tx.lookup("refunds", "contractId", known))
    states.get(row.contractId)?.refunds.set(row.refundId, row);
  for (const row of await tx.lookup("payments", "contractId", known))
    states.get(row.contractId)?.payments.set(row.paymentKey, row);
  for (const row of await tx.lookup("disputes", "contractId", known))
    states.get(row.contractId)?.disputes.set(row.disputeKey, row);
  return states;
}

/** Every input of a contract that is stored, applied deliveries and snapshots, in no order. */
export async function loadInputs(reader: StoreReader, contractId: string): Promise<FoldInput[]> {
  const where = [{ field: "contractId", op: "=", value: contractId }] as const;
  const deliveries = await reader.find("deliveries", {
    where: [...where, { field: "outcome", op: "=", value: "applied" }],
  });
  const snapshots = await reader.find("snapshots", { where });
  const events = deliveries.flatMap(({ digest, webhookId, facts }): FoldInput[] =>
    facts === null || familyOf(facts.event) === undefined
      ? []
      : [{ kind: "event", digest, webhookId, facts }],
  );
  return [...events, ...snapshots.map((row): FoldInput => ({ kind: "snapshot", ...row }))];
}

/** One step when the inputs come after all that was folded; else the contract is folded anew from what is stored. */
async function foldIn(
  tx: StoreTransaction,
  before: ContractState,
  added: readonly FoldInput[],
  options: FoldOptions,
): Promise<ContractState> {
  if (added.every((input) => isNewest(before, input))) return advance(before, added, options);
  return fold(before.contract.contractId, await loadInputs(tx, before.contract.contractId), options);
}

function groupInputs(committed: readonly Committed[]): Map<string, FoldInput[]> {
  const groups = new Map<string, FoldInput[]>();
  for (const { arrival, outcome } of committed) {
    const input = outcome === "applied" ? toInput(arrival) : undefined;
    if (input === undefined) continue;
    const group = groups.get(input.facts.contractId);
    if (group === undefined) groups.set(input.facts.contractId, [input]);
    else group.push(input);
  }
  return groups;
}

/** What the fold takes in; nothing of a `webhook.test` or of an event of no family (semantics §5.3). */
function toInput(arrival: Arrival): FoldInput | undefined {
  if (arrival.kind === "snapshot") return arrival;
  const { digest, webhookId, reading } = arrival;
  if (reading.facts === null || familyOf(reading.facts.event) === undefined) return undefined;
  return { kind: "event", digest, webhookId, facts: reading.facts };
}

function openState(contract: ContractState["contract"]) {
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
