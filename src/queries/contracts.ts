import type { MilestoneRecord, RefundRecord, TransitionRecord } from "../domain/records.ts";
import { contractMachine } from "../domain/contract.ts";
import { canonicalStatus, type ContractStatus } from "../domain/status.ts";
import { groupBy } from "../shared/group-by.ts";
import { EscrowMirrorError } from "../shared/errors.ts";
import type { Condition, Store, StoreReader } from "../store/store.ts";
import type { ContractRow } from "../store/tables.ts";
import { checkFilter, idOf, textOf, timeOf } from "./arguments.ts";
import { findPage, type Page, type PageRequest } from "./page.ts";
import type { MirroredContract, MirroredMilestone, Transition } from "./shapes.ts";

export interface ContractQueries {
  /** `undefined` for a contract that no delivery and no API read has told of. @throws EscrowMirrorError `invalid-argument` */
  get(contractId: string): Promise<MirroredContract | undefined>;
  /** In the order of their ids. @throws EscrowMirrorError `invalid-argument` */
  list(filter?: ContractFilter): Promise<Page<MirroredContract>>;
  count(): Promise<{ total: number; byStatus: Record<string, number> }>;
  /**
   * Everything that was said of the contract and its milestones, in key order; `[]` for one that is not known.
   *
   * @throws EscrowMirrorError `invalid-argument`
   */
  history(contractId: string): Promise<Transition[]>;
}

export interface ContractFilter extends PageRequest {
  /** In any case, as the service and its API differ in it. */
  readonly status?: ContractStatus | readonly ContractStatus[] | undefined;
  readonly reference?: string | undefined;
  readonly metadata1?: string | undefined;
  readonly metadata2?: string | undefined;
  readonly metadata3?: string | undefined;
  readonly metadata4?: string | undefined;
  /** Changed by a commit at or after this time: ISO 8601, or a `Date`. */
  readonly changedSince?: string | Date | undefined;
}

export function createContractQueries(store: Store): ContractQueries {
  return {
    get: (contractId) =>
      store.read(async (reader) => {
        const where = [{ field: "contractId", op: "=", value: idOf(contractId) }] as const;
        const rows = await reader.find("contracts", { where, limit: 1 });
        return (await withChildren(reader, rows))[0];
      }),

    list: async (filter = {}) => {
      checkFilter(filter, { status: true, ...textFilters, changedSince: true });
      const where = toConditions(filter);
      return store.read(async (reader) => {
        const page = await findPage(reader, "contracts", { where, by: ["contractId"] }, filter);
        return { ...page, items: await withChildren(reader, page.items) };
      });
    },

    count: () =>
      store.read(async (reader) => {
        const counts = await reader.countBy("contracts", "status");
        const byStatus = Object.fromEntries([...counts].map(([status, rows]) => [status ?? "unknown", rows]));
        return { total: [...counts.values()].reduce((sum, rows) => sum + rows, 0), byStatus };
      }),

    history: (contractId) =>
      store.read(async (reader) => {
        const where = [{ field: "contractId", op: "=", value: idOf(contractId) }] as const;
        return (await reader.find("transitions", { where, orderBy: ["position"] })).map(toTransition);
      }),
  };
}

const textFilters = {
  reference: true,
  metadata1: true,
  metadata2: true,
  metadata3: true,
  metadata4: true,
} as const;

function toConditions(filter: ContractFilter): Condition<ContractRow>[] {
  const where: Condition<ContractRow>[] = [];
  for (const field of Object.keys(textFilters) as (keyof typeof textFilters)[]) {
    const value = filter[field];
    if (value !== undefined) where.push({ field, op: "=", value: textOf(value, field) });
  }
  if (filter.changedSince !== undefined)
    where.push({ field: "changedAt", op: ">=", value: timeOf(filter.changedSince, "changedSince") });
  return filter.status === undefined ? where : [...where, toStatusCondition(filter.status)];
}

function toStatusCondition(status: string | readonly string[]): Condition<ContractRow> {
  const names = Array.isArray(status) ? status : [status];
  if (names.length <= statusNamesMax)
    return { field: "status", op: "in", value: Array.from(names, toStoredStatus) };
  throw new EscrowMirrorError(
    "invalid-argument",
    `status has ${names.length} names: ${statusNamesMax} at most are taken`,
  );
}

/** Many times as many as there are, and far from the number of values that a statement may have. */
const statusNamesMax = 100;

/** A contract whose status nothing has told yet has none in the store. */
function toStoredStatus(status: string): string | null {
  const name = textOf(status, "status");
  return name.toLowerCase() === "unknown" ? null : canonicalStatus(contractMachine, name);
}

/** The contracts of these ids that are known, by id. */
export async function contractsOf(
  reader: StoreReader,
  contractIds: readonly string[],
): Promise<Map<string, MirroredContract>> {
  const where = [{ field: "contractId", op: "in", value: contractIds }] as const;
  const rows = contractIds.length === 0 ? [] : await reader.find("contracts", { where });
  const contracts = await withChildren(reader, rows);
  return new Map(contracts.map((contract) => [contract.contractId, contract]));
}

async function withChildren(
  reader: StoreReader,
  contracts: readonly ContractRow[],
): Promise<MirroredContract[]> {
  if (contracts.length === 0) return [];
  const ids = contracts.map(({ contractId }) => contractId);
  const where = [{ field: "contractId", op: "in", value: ids }] as const;
  const milestones = await reader.find("milestones", { where, orderBy: ["milestoneId"] });
  const refunds = await reader.find("refunds", { where, orderBy: ["refundId"] });
  const [itsMilestones, itsRefunds] = [groupBy(milestones, contractIdOf), groupBy(refunds, contractIdOf)];
  return contracts.map((contract) =>
    toContract(
      contract,
      itsMilestones.get(contract.contractId) ?? [],
      itsRefunds.get(contract.contractId) ?? [],
    ),
  );
}

function contractIdOf({ contractId }: { readonly contractId: string }): string {
  return contractId;
}

function toContract(
  row: ContractRow,
  milestones: MilestoneRecord[],
  refunds: RefundRecord[],
): MirroredContract {
  const { metadata1, metadata2, metadata3, metadata4 } = row;
  return {
    contractId: row.contractId,
    reference: row.reference,
    status: row.status ?? "unknown",
    statusSince: row.statusSince,
    previousStatus: row.previousStatus,
    title: row.title,
    description: row.description,
    notes: row.notes,
    businessName: row.businessName,
    serviceType: row.serviceType,
    amountMinor: row.amountMinor,
    currency: row.currency,
    metadata: withoutNulls({ metadata1, metadata2, metadata3, metadata4 }),
    buyer: row.buyer,
    seller: row.seller,
    milestones: milestones.sort(byId).map(toMilestone),
    refunds: refunds.map((refund) => ({ ...refund })),
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
    changedAt: row.changedAt,
    syncedAt: row.syncedAt,
  };
}

function toMilestone({ statusKey: _, ...milestone }: MilestoneRecord): MirroredMilestone {
  return milestone;
}

export function toTransition({ position: _, ...transition }: TransitionRecord): Transition {
  return transition;
}

/** 2 before 10. */
function byId(a: MilestoneRecord, b: MilestoneRecord): number {
  return a.milestoneId.localeCompare(b.milestoneId, "en", { numeric: true });
}

function withoutNulls(fields: Record<string, string | null>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(fields).filter((entry): entry is [string, string] => entry[1] !== null),
  );
}
