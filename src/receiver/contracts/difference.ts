/** The difference between contracts before and after: a refold gives a whole contract, and only changes are written. */
import { isDeepStrictEqual } from "node:util";
import type {
  AnomalyRecord,
  ContractRecord,
  DisputeRecord,
  MilestoneRecord,
  PaymentRecord,
  RefundRecord,
  TransitionRecord,
} from "../../domain/records.ts";
import type { Pace } from "../../shared/pace.ts";
import type { ContractChange } from "../arrival.ts";

/** The rows that are new or not as they were, by table. */
export interface Difference {
  readonly contracts: ContractRecord[];
  readonly milestones: MilestoneRecord[];
  readonly refunds: RefundRecord[];
  readonly payments: PaymentRecord[];
  readonly disputes: DisputeRecord[];
  readonly transitions: TransitionRecord[];
  readonly anomalies: AnomalyRecord[];
}

export async function differenceOf(changes: readonly ContractChange[], pace: Pace): Promise<Difference> {
  const rows: Difference = {
    contracts: [],
    milestones: [],
    refunds: [],
    payments: [],
    disputes: [],
    transitions: [],
    anomalies: [],
  };
  for (const { before, after } of changes) {
    const found = [
      await collect(before.milestones, after.milestones, rows.milestones, pace),
      await collect(before.refunds, after.refunds, rows.refunds, pace),
      await collect(before.payments, after.payments, rows.payments, pace),
      await collect(before.disputes, after.disputes, rows.disputes, pace),
      await collect(byPosition(before.transitions), byPosition(after.transitions), rows.transitions, pace),
      await collect(byPosition(before.anomalies), byPosition(after.anomalies), rows.anomalies, pace),
    ];
    // The contract's own row is written too if only a row that belongs to it changed, for example a refund.
    if (found.includes(true) || !isSame(before.contract, after.contract)) rows.contracts.push(after.contract);
  }
  return rows;
}

/** How many rows are compared between two pauses. */
const comparedRows = 1000;

/** @returns whether anything is not as it was, rows that are gone included */
async function collect<Key, Row extends object>(
  before: ReadonlyMap<Key, Row>,
  after: ReadonlyMap<Key, Row>,
  into: Row[],
  pace: Pace,
): Promise<boolean> {
  const start = into.length;
  let compared = 0;
  for (const [key, row] of after) {
    if (++compared % comparedRows === 0) await pace();
    const known = before.get(key);
    if (known === undefined || !isSame(known, row)) into.push(row);
  }
  return into.length > start || before.size > after.size;
}

/** Only the fields of `row` are compared: a row from the database also has `changedAt` or `seq`, which the fold does not make. */
function isSame(known: object, row: object): boolean {
  if (known === row) return true;
  for (const [field, value] of Object.entries(row)) {
    const was = (known as Record<string, unknown>)[field];
    if (was !== value && !isDeepStrictEqual(was, value)) return false;
  }
  return true;
}

function byPosition<Row extends { readonly position: number }>(rows: readonly Row[]): Map<number, Row> {
  return new Map(rows.map((row) => [row.position, row]));
}
