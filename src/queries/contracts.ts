import type { MilestoneRecord, TransitionRecord } from "../domain/records.ts";
import { contractMachine } from "../domain/contract.ts";
import { canonicalStatus, type ContractStatus } from "../domain/status.ts";
import { groupBy } from "../shared/group-by.ts";
import { EscrowMirrorError } from "../shared/errors.ts";
import { nextTurn } from "../shared/timers.ts";
import { compareStored } from "../store/stored-text.ts";
import type { Condition, StoreReader, View } from "../store/store.ts";
import type { ContractRow, RefundRow } from "../store/tables/contracts.ts";
import { checkFilter, idOf, textOf, timeOf } from "./arguments.ts";
import { countByStatus } from "./counts.ts";
import { findPage, type Page, type PageRequest } from "./page.ts";
import type { List } from "./paths.ts";
import { toRefund, type MirroredContract, type MirroredMilestone, type Transition } from "./shapes.ts";

/** Reads contracts. */
export interface ContractQueries {
  /**
   * Resolves with `undefined` if no delivery and no API read has named the contract.
   *
   * @throws EscrowMirrorError `invalid-argument`
   */
  get(contractId: string): Promise<MirroredContract | undefined>;
  /**
   * Lists contracts by id. With `changedSince` it lists them by time of change. If a contract changes while you read the
   * pages, it appears again at the end.
   *
   * @throws EscrowMirrorError `invalid-argument`
   */
  list(filter?: ContractFilter): Promise<Page<MirroredContract>>;
  /** Counts all contracts, and those of each status. It reads every contract, in small steps, so that other work can run. */
  count(): Promise<{
    /** All contracts. */
    total: number;
    /** Their number by status. */
    byStatus: Record<string, number>;
  }>;
  /**
   * Each event and API read of the contract and its milestones, in the order of their times. `[]` for an
   * unknown contract.
   *
   * @throws EscrowMirrorError `invalid-argument`
   */
  history(contractId: string): Promise<Transition[]>;
}

/** Selects contracts that fit all given fields. */
export interface ContractFilter extends PageRequest {
  /** In upper or lower case. */
  readonly status?: ContractStatus | readonly ContractStatus[] | undefined;
  /** The app's own id. */
  readonly reference?: string | undefined;
  /** The exact text. */
  readonly metadata1?: string | undefined;
  /** The exact text. */
  readonly metadata2?: string | undefined;
  /** The exact text. */
  readonly metadata3?: string | undefined;
  /** The exact text. */
  readonly metadata4?: string | undefined;
  /** Only contracts that the mirror changed at or after this time. ISO 8601, or a `Date`. */
  readonly changedSince?: string | Date | undefined;
}

export function createContractQueries(store: View): ContractQueries {
  return {
    get: async (contractId) => {
      const id = idOf(contractId);
      return store.read(async (reader) => (await contractsOf(reader, [id])).get(id));
    },

    list: async (filter = {}) => {
      checkFilter(filter, { status: true, ...textFilters, changedSince: true });
      const where = toConditions(filter);
      return store.read(async (reader) => {
        const { items, nextCursor } = await findPage(reader, contractList, where, filter);
        const children = await loadChildren(
          reader,
          items.map(({ contractId }) => contractId),
        );
        return { items: items.map((contract) => toContract(contract, children)), nextCursor };
      });
    },

    count: () =>
      store.read(async (reader) => {
        const counts = await countByStatus(reader);
        const byStatus = Object.fromEntries([...counts].map(([status, rows]) => [status ?? "unknown", rows]));
        return { total: [...counts.values()].reduce((sum, rows) => sum + rows, 0), byStatus };
      }),

    history: async (contractId) => {
      const id = idOf(contractId);
      return store.read(async (reader) => (await loadTransitions(reader, id)).map(toTransition));
    },
  };
}

const contractList: List<"contracts"> = {
  table: "contracts",
  paths: [
    { by: ["changedAt", "contractId"], bounded: true },
    { of: "reference", by: ["contractId"], present: ["reference"] },
    { of: "metadata1", by: ["contractId"], present: ["metadata1"] },
    { of: "metadata2", by: ["contractId"], present: ["metadata2"] },
    { of: "metadata3", by: ["contractId"], present: ["metadata3"] },
    { of: "metadata4", by: ["contractId"], present: ["metadata4"] },
    { of: "status", by: ["contractId"] },
    { by: ["contractId"] },
  ],
};

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
    if (value !== undefined)
      where.push({ field, op: "=", value: textOf(value, field) }, { field, op: "not-null" });
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
    `status has ${names.length} names: at most ${statusNamesMax} are allowed`,
  );
}

/** Far more than there are statuses, and far fewer than the values that a statement can have. */
const statusNamesMax = 100;

/** The status `unknown` is stored as `null`. */
function toStoredStatus(status: string): string | null {
  const name = textOf(status, "status");
  return name.toLowerCase() === "unknown" ? null : canonicalStatus(contractMachine, name);
}

/** The contracts of these ids that are known, by id. */
export async function contractsOf(
  reader: StoreReader,
  contractIds: Iterable<string>,
): Promise<Map<string, MirroredContract>> {
  const ids = [...new Set(contractIds)];
  // In parallel, so that a remote database answers all of them in one round trip.
  const [rows, children] = await Promise.all([
    reader.lookup("contracts", "contractId", ids),
    loadChildren(reader, ids),
  ]);
  return new Map(rows.map((row) => [row.contractId, toContract(row, children)]));
}

/** The rows that belong to contracts, by contract id. */
interface Children {
  readonly milestones: ReadonlyMap<string, MilestoneRecord[]>;
  readonly refunds: ReadonlyMap<string, RefundRow[]>;
}

async function loadChildren(reader: StoreReader, contractIds: readonly string[]): Promise<Children> {
  const [milestones, refunds] = await Promise.all([
    reader.lookup("milestones", "contractId", contractIds),
    reader.lookup("refunds", "contractId", contractIds),
  ]);
  return { milestones: groupBy(milestones, contractIdOf), refunds: groupBy(refunds, contractIdOf) };
}

function contractIdOf({ contractId }: { readonly contractId: string }): string {
  return contractId;
}

/** In slices, because a history may be long. */
async function loadTransitions(reader: StoreReader, contractId: string): Promise<TransitionRecord[]> {
  const transitions: TransitionRecord[] = [];
  for (;;) {
    const last = transitions.at(-1);
    const slice = await reader.walk("transitions", {
      of: { field: "contractId", value: contractId },
      by: ["position"],
      after: last && [last.position],
      rowsMax: sliceRows,
    });
    transitions.push(...slice);
    if (slice.length < sliceRows) return transitions;
    await nextTurn();
  }
}

const sliceRows = 1000;

function toContract(row: ContractRow, children: Children): MirroredContract {
  const milestones = children.milestones.get(row.contractId) ?? [];
  const refunds = children.refunds.get(row.contractId) ?? [];
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
    milestones: milestones.sort(byMilestoneId).map(toMilestone),
    refunds: refunds.sort(byRefundId).map(toRefund),
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
function byMilestoneId(a: MilestoneRecord, b: MilestoneRecord): number {
  return numbersInOrder.compare(a.milestoneId, b.milestoneId);
}

const numbersInOrder = new Intl.Collator("en", { numeric: true });

function byRefundId(a: RefundRow, b: RefundRow): number {
  return compareStored(a.refundKey, b.refundKey);
}

function withoutNulls(fields: Record<string, string | null>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(fields).filter((entry): entry is [string, string] => entry[1] !== null),
  );
}
