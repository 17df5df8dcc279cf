/**
 * Loads contracts. Most have few rows, which are read together. Many rows of one contract are read page by page, and
 * the event loop turns in between, so that a long life of one contract delays no other.
 */
import { attachmentKeys, attachments, type Attachment } from "../../domain/fold.ts";
import { familyOf, type FoldInput, type StoredInput } from "../../domain/input.ts";
import type { AnomalyRecord, ContractRecord, ContractState, TransitionRecord } from "../../domain/records.ts";
import { groupBy } from "../../shared/group-by.ts";
import { createPace, type Pace } from "../../shared/pace.ts";
import { fromFactColumns } from "../../store/fact-columns.ts";
import type { FieldOf, StoreTransaction } from "../../store/store.ts";
import type { TableName, Tables } from "../../store/tables.ts";
import { toInput } from "../arrival.ts";

/** The contracts' own rows, kept from every other writer until the commit. */
export async function loadContracts(
  tx: StoreTransaction,
  contractIds: readonly string[],
): Promise<Map<string, ContractRecord>> {
  const rows = await tx.lockContracts(contractIds);
  return new Map(rows.map((row) => [row.contractId, row]));
}

/** A state as it is read, its history in no order. */
export type LoadedState = {
  readonly [Name in Attachment]: Map<string, Tables[Name]>;
} & Omit<ContractState, Attachment> & {
    readonly transitions: TransitionRecord[];
    readonly anomalies: AnomalyRecord[];
  };

/** The states of known contracts, each attachment for those that `readers` names, and no history. */
export async function loadStates(
  tx: StoreTransaction,
  contracts: ReadonlyMap<string, ContractRecord>,
  readers: (attachment: Attachment) => readonly string[],
  pace: Pace,
): Promise<Map<string, LoadedState>> {
  const states = new Map([...contracts].map(([id, contract]) => [id, openState(contract)]));
  for (const table of attachments) await attachAll(tx, table, readers(table), states, pace);
  return states;
}

/** Everything that earlier folds made of these contracts. */
export async function loadWhole(
  tx: StoreTransaction,
  contracts: ReadonlyMap<string, ContractRecord>,
  contractIds: readonly string[],
  pace: Pace,
): Promise<Map<string, LoadedState>> {
  const states = await loadStates(tx, contracts, () => contractIds, pace);
  for await (const page of pagesOf(tx, "transitions", contractIds, pace))
    for (const row of page) states.get(row.contractId)?.transitions.push(row);
  for await (const page of pagesOf(tx, "anomalies", contractIds, pace))
    for (const row of page) if (isOfFold(row)) states.get(row.contractId)?.anomalies.push(row);
  return states;
}

/** Every input of these contracts that is stored, applied deliveries and what is no delivery, in no order. */
export async function loadInputs(
  tx: StoreTransaction,
  contractIds: readonly string[],
  pace = createPace(),
): Promise<Map<string, FoldInput[]>> {
  const inputs: FoldInput[] = [];
  for await (const page of pagesOf(tx, "deliveries", contractIds, pace))
    for (const row of page) {
      const facts = row.outcome === "applied" ? fromFactColumns(row) : null;
      if (facts !== null) inputs.push(toInput(row, facts));
    }
  for await (const page of pagesOf(tx, "inputs", contractIds, pace))
    // Rows are written from inputs as they are, and their kind says what their facts are.
    for (const row of page) inputs.push(row as StoredInput);
  return groupByContract(inputs);
}

/** By contract, less what the fold does not take in: a `webhook.test`, an event of no family (semantics §5.3). */
export function groupByContract(inputs: readonly FoldInput[]): Map<string, FoldInput[]> {
  const folded = inputs.filter(
    (input) => input.kind !== "event" || familyOf(input.facts.event) !== undefined,
  );
  return groupBy(folded, ({ facts }) => facts.contractId);
}

async function attachAll(
  tx: StoreTransaction,
  table: Attachment,
  contractIds: readonly string[],
  states: ReadonlyMap<string, LoadedState>,
  pace: Pace,
): Promise<void> {
  const keyOf = (row: object): string => (row as Record<string, string>)[attachmentKeys[table]] ?? "";
  for await (const page of pagesOf(tx, table, contractIds, pace))
    for (const row of page) {
      const rows: Map<string, object> | undefined = states.get(row.contractId)?.[table];
      rows?.set(keyOf(row), row);
    }
}

/** Those that lie between deliveries or contracts are no part of a fold. */
function isOfFold(row: Tables["anomalies"]): row is Tables["anomalies"] & AnomalyRecord {
  return row.contractId !== null && row.position !== null;
}

function openState(contract: ContractRecord): LoadedState {
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

/** The index that the rows of one contract are paged by, without the contract's id that it begins with. */
const pagedBy = {
  deliveries: ["receivedAt", "seq"],
  inputs: ["digest"],
  milestones: ["milestoneId"],
  refunds: ["refundId"],
  payments: ["paymentKey"],
  disputes: ["disputeKey"],
  transitions: ["position"],
  anomalies: ["at", "seq"],
} as const satisfies { readonly [Name in TableName]?: readonly FieldOf<Name>[] };

type Paged = keyof typeof pagedBy;

/** How many contracts are read in one go, how many rows of each, and how many of one that has more. */
const contractsAtOnce = 64;
const fewRows = 64;
const pageRows = 250;

async function* pagesOf<Name extends Paged>(
  tx: StoreTransaction,
  table: Name,
  contractIds: readonly string[],
  pace: Pace,
): AsyncGenerator<readonly Tables[Name][]> {
  for (let start = 0; start < contractIds.length; start += contractsAtOnce) {
    const ids = contractIds.slice(start, start + contractsAtOnce);
    const rows = await tx.lookup(table, "contractId", ids, [], fewRows + 1);
    await pace();
    const long = rows.length > fewRows ? idsOfMany(rows) : new Set<string | null>();
    yield long.size === 0 ? rows : rows.filter(({ contractId }) => !long.has(contractId));
    for (const id of ids) if (long.has(id)) yield* pagesOfOne(tx, table, id, pace);
  }
}

function idsOfMany(rows: readonly { readonly contractId: string | null }[]): Set<string | null> {
  const groups = groupBy(rows, ({ contractId }) => contractId);
  return new Set([...groups].filter(([, own]) => own.length > fewRows).map(([id]) => id));
}

async function* pagesOfOne<Name extends Paged>(
  tx: StoreTransaction,
  table: Name,
  contractId: string,
  pace: Pace,
): AsyncGenerator<readonly Tables[Name][]> {
  const by = pagedBy[table] as readonly string[] as readonly FieldOf<Name>[];
  const of = { field: "contractId" as FieldOf<Name>, value: contractId };
  for (let after: readonly (string | number)[] | undefined; ;) {
    const page = await tx.walk(table, { of, by, after, rowsMax: pageRows });
    yield page;
    await pace();
    const last = page.at(-1);
    if (last === undefined || page.length < pageRows) return;
    after = by.map((field) => last[field] as string | number);
  }
}
