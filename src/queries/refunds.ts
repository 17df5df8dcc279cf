import { refundStates, type DisputeRecord, type PaymentRecord } from "../domain/records.ts";
import { toIsoTime, type Clock } from "../shared/clock.ts";
import { EscrowMirrorError } from "../shared/errors.ts";
import { orderKeyOf } from "../shared/wire-time.ts";
import type { Condition, StoreReader, View } from "../store/store.ts";
import type { RefundRow } from "../store/tables/contracts.ts";
import { ageOf, checkFilter, checkOptions, choiceOf, idOf, timeOf } from "./arguments.ts";
import { findPage, type Page, type PageRequest } from "./page.ts";
import type { List } from "./paths.ts";
import { toRefund, type MirroredDispute, type MirroredPayment, type MirroredRefund } from "./shapes.ts";

/** Reads refunds. */
export interface RefundQueries {
  /**
   * @param options.contractId needed only if two contracts have the same refund id
   * @throws EscrowMirrorError `invalid-argument` if two contracts have this refund id and `contractId` is missing
   */
  get(refundId: string, options?: { contractId?: string | undefined }): Promise<MirroredRefund | undefined>;
  /**
   * Lists refunds by contract and refund id. With `state` or `olderThan`: oldest `initiatedAt` first. With
   * `changedSince`: in the order of change.
   *
   * @throws EscrowMirrorError `invalid-argument`
   */
  list(filter?: RefundFilter): Promise<Page<MirroredRefund>>;
}

/** Selects refunds that fit all given fields. */
export interface RefundFilter extends OfContract {
  /** The state. */
  readonly state?: MirroredRefund["state"] | undefined;
  /** Initiated at least this long ago. Milliseconds. With `state: "initiated"` it finds refunds that are stuck. */
  readonly olderThan?: number | undefined;
  /** Only refunds that the mirror changed at or after this time. ISO 8601, or a `Date`. */
  readonly changedSince?: string | Date | undefined;
}

/** Selects the rows of one contract. */
export interface OfContract extends PageRequest {
  /** The contract. */
  readonly contractId?: string | undefined;
}

export function createRefundQueries(store: View, clock: Clock): RefundQueries {
  return {
    get: async (refundId, options = {}) => {
      checkOptions(options, ["contractId"], "refunds.get");
      const [refund, other] = await store.read((reader) =>
        options.contractId === undefined
          ? loadSharing(reader, idOf(refundId))
          : loadOfContract(reader, idOf(refundId), idOf(options.contractId)),
      );
      if (other !== undefined)
        throw new EscrowMirrorError(
          "invalid-argument",
          `refund ${refundId} is on two contracts: pass contractId`,
        );
      return refund && toRefund(refund);
    },

    list: async (filter = {}) => {
      checkFilter(filter, { contractId: true, state: true, olderThan: true, changedSince: true });
      const where = toConditions(filter, clock);
      const page = await store.read((reader) => findPage(reader, refundList, where, filter));
      return { ...page, items: page.items.map(toRefund) };
    },
  };
}

const refundList: List<"refunds"> = {
  table: "refunds",
  paths: [
    { of: "contractId", by: ["refundKey"] },
    { by: ["changedAt", "contractId", "refundKey"], bounded: true },
    { of: "state", by: ["initiatedKey", "contractId", "refundKey"] },
    { by: ["contractId", "refundKey"] },
  ],
};

/** Of those that share the id two tell that there are several. */
function loadSharing(reader: StoreReader, refundId: string): Promise<RefundRow[]> {
  const of = { field: "refundId", value: refundId } as const;
  return reader.walk("refunds", { of, by: ["contractId"], rowsMax: 2 });
}

function loadOfContract(reader: StoreReader, refundId: string, contractId: string): Promise<RefundRow[]> {
  const of = { field: "contractId", value: contractId } as const;
  const where = [{ field: "refundKey", op: "=", value: refundId }] as const;
  return reader.walk("refunds", { of, by: ["refundKey"], from: refundId, rowsMax: 1 }, { where });
}

function toConditions(filter: RefundFilter, clock: Clock): Condition<RefundRow>[] {
  const { contractId, state, olderThan, changedSince } = filter;
  const where: Condition<RefundRow>[] = [...ofContract(contractId)];
  if (state !== undefined)
    where.push({ field: "state", op: "=", value: choiceOf(state, refundStates, "state") });
  if (changedSince !== undefined)
    where.push({ field: "changedAt", op: ">=", value: timeOf(changedSince, "changedSince") });
  if (olderThan === undefined) return where;
  const before = orderKeyOf(toIsoTime(clock.now() - ageOf(olderThan, "olderThan")));
  // Every time begins with a digit.
  where.push(
    { field: "initiatedKey", op: ">=", value: "0" },
    { field: "initiatedKey", op: "<", value: before },
  );
  return state === undefined ? [...where, { field: "state", op: "in", value: refundStates }] : where;
}

/** Reads payments. */
export interface PaymentQueries {
  /** @throws EscrowMirrorError `invalid-argument` */
  list(filter?: OfContract): Promise<Page<MirroredPayment>>;
}

export function createPaymentQueries(store: View): PaymentQueries {
  return {
    list: async (filter = {}) => {
      checkFilter(filter, { contractId: true });
      const where = ofContract(filter.contractId);
      const page = await store.read((reader) => findPage(reader, paymentList, where, filter));
      return { ...page, items: page.items.map(toPayment) };
    },
  };
}

const paymentList: List<"payments"> = {
  table: "payments",
  paths: [{ of: "contractId", by: ["paymentKey"] }, { by: ["contractId", "paymentKey"] }],
};

/** Reads disputes. */
export interface DisputeQueries {
  /** @throws EscrowMirrorError `invalid-argument` */
  list(filter?: OfContract): Promise<Page<MirroredDispute>>;
}

export function createDisputeQueries(store: View): DisputeQueries {
  return {
    list: async (filter = {}) => {
      checkFilter(filter, { contractId: true });
      const where = ofContract(filter.contractId);
      const page = await store.read((reader) => findPage(reader, disputeList, where, filter));
      return { ...page, items: page.items.map(toDispute) };
    },
  };
}

const disputeList: List<"disputes"> = {
  table: "disputes",
  paths: [{ of: "contractId", by: ["disputeKey"] }, { by: ["contractId", "disputeKey"] }],
};

function ofContract(contractId: string | undefined): { field: "contractId"; op: "="; value: string }[] {
  return contractId === undefined ? [] : [{ field: "contractId", op: "=", value: idOf(contractId) }];
}

function toPayment({ paymentKey: _, ...payment }: PaymentRecord): MirroredPayment {
  return payment;
}

function toDispute({ disputeKey: _, ...dispute }: DisputeRecord): MirroredDispute {
  return dispute;
}
