import { compareText } from "../../domain/order.ts";
import type { History } from "./history.ts";
import type { TrueDispute, TruePayment, TrueRefund } from "./life.ts";

/**
 * The correct state of a contract at the end of its life, as the service has it. It is computed without the mirror's code.
 */
export interface LifeTruth {
  /** The contract's external id. */
  readonly contractId: string;
  /** The contract's status. */
  readonly status: string | null;
  /** The status of each milestone that had an event, by its id. */
  readonly milestones: Readonly<Record<string, string>>;
  /** The refunds. */
  readonly refunds: readonly ToldRefund[];
  /** The payments. */
  readonly payments: readonly TruePayment[];
  /** The disputes. */
  readonly disputes: readonly ToldDispute[];
  /** The app's own id. */
  readonly reference: string | null;
  /** `metadata1` to `metadata4`, where present. */
  readonly metadata: Readonly<Record<string, string>>;
  /** Halalas. */
  readonly amountMinor: number;
}

/** A refund with the times of its events: ISO 8601 with seven decimals and `Z`. */
export interface ToldRefund extends Omit<TrueRefund, "initiatedBy" | "succeededBy"> {
  /** The time of its first event. */
  readonly initiatedAt: string | null;
  /** The time of its second event. */
  readonly succeededAt: string | null;
}

/** A dispute with the time of its event. */
export interface ToldDispute extends Omit<TrueDispute, "raisedBy"> {
  /** The time of its event. */
  readonly raisedAt: string | null;
}

/** The truth with the instants that the history gave it. */
export function truthOf({ life, sent }: History): LifeTruth {
  const { truth, contractId } = life;
  const at = (index: number | null): string | null =>
    index === null ? null : (sent[index]?.occurredAt ?? null);
  return {
    contractId,
    status: truth.status,
    amountMinor: truth.amountMinor,
    reference: truth.reference,
    metadata: truth.metadata,
    milestones: Object.fromEntries(truth.milestones),
    refunds: sortedByText(
      truth.refunds.map(({ initiatedBy, succeededBy, ...refund }) => ({
        ...refund,
        initiatedAt: at(initiatedBy),
        succeededAt: at(succeededBy),
      })),
    ),
    payments: sortedByText(truth.payments),
    disputes: sortedByText(
      truth.disputes.map(({ raisedBy, ...dispute }) => ({ ...dispute, raisedAt: at(raisedBy) })),
    ),
  };
}

/** In the order of their text, whatever order their fields stand in. */
export function sortedByText<Row extends object>(rows: readonly Row[]): Row[] {
  const keyed = rows.map((row) => ({ row, text: textOf(row) }));
  return keyed.sort((a, b) => compareText(a.text, b.text)).map(({ row }) => row);
}

function textOf(row: object): string {
  return JSON.stringify(Object.entries(row).sort(([a], [b]) => compareText(a, b)));
}
