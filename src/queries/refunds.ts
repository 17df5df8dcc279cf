import { refundStates, type DisputeRecord, type PaymentRecord } from "../domain/records.ts";
import { toIsoTime, type Clock } from "../shared/clock.ts";
import { EscrowMirrorError } from "../shared/errors.ts";
import type { Condition, Store } from "../store/store.ts";
import type { Tables } from "../store/tables.ts";
import { ageOf, checkFilter, checkOptions, choiceOf, idOf } from "./arguments.ts";
import { findPage, type Page, type PageRequest } from "./page.ts";
import type { MirroredDispute, MirroredPayment, MirroredRefund } from "./shapes.ts";

export interface RefundQueries {
  /**
   * @param options.contractId needed only where two contracts share the refund's id
   * @throws EscrowMirrorError `invalid-argument` when they do and it is not given
   */
  get(refundId: string, options?: { contractId?: string | undefined }): Promise<MirroredRefund | undefined>;
  /** @throws EscrowMirrorError `invalid-argument` */
  list(filter?: RefundFilter): Promise<Page<MirroredRefund>>;
}

export interface RefundFilter extends OfContract {
  readonly state?: MirroredRefund["state"] | undefined;
  /** Initiated longer ago than this, in ms: with `state: "initiated"` the refunds that are silent. */
  readonly olderThan?: number | undefined;
}

export interface OfContract extends PageRequest {
  readonly contractId?: string | undefined;
}

export function createRefundQueries(store: Store, clock: Clock): RefundQueries {
  return {
    get: async (refundId, options = {}) => {
      checkOptions(options, ["contractId"], "refunds.get");
      return store.read(async (reader) => {
        const where = [
          ...ofContract(options.contractId),
          { field: "refundId", op: "=", value: idOf(refundId) } as const,
        ];
        const [refund, other] = await reader.find("refunds", { where, orderBy: ["contractId"], limit: 2 });
        if (other !== undefined)
          throw new EscrowMirrorError(
            "invalid-argument",
            `refund ${refundId} is on two contracts: pass contractId`,
          );
        return refund;
      });
    },

    list: async (filter = {}) => {
      checkFilter(filter, { contractId: true, state: true, olderThan: true });
      const where: Condition<Tables["refunds"]>[] = [...ofContract(filter.contractId)];
      if (filter.state !== undefined)
        where.push({ field: "state", op: "=", value: choiceOf(filter.state, refundStates, "state") });
      // Whole seconds: of two times written with other fractions, text tells only the seconds apart.
      if (filter.olderThan !== undefined) {
        const before = toSecond(clock.now() - ageOf(filter.olderThan, "olderThan"));
        where.push({ field: "initiatedAt", op: "<", value: before });
      }
      const query = { where, by: ["contractId", "refundId"] } as const;
      return store.read((reader) => findPage(reader, "refunds", query, filter));
    },
  };
}

export interface PaymentQueries {
  /** @throws EscrowMirrorError `invalid-argument` */
  list(filter?: OfContract): Promise<Page<MirroredPayment>>;
}

export function createPaymentQueries(store: Store): PaymentQueries {
  return {
    list: async (filter = {}) => {
      checkFilter(filter, { contractId: true });
      const query = { where: ofContract(filter.contractId), by: ["contractId", "paymentKey"] } as const;
      const page = await store.read((reader) => findPage(reader, "payments", query, filter));
      return { ...page, items: page.items.map(toPayment) };
    },
  };
}

export interface DisputeQueries {
  /** @throws EscrowMirrorError `invalid-argument` */
  list(filter?: OfContract): Promise<Page<MirroredDispute>>;
}

export function createDisputeQueries(store: Store): DisputeQueries {
  return {
    list: async (filter = {}) => {
      checkFilter(filter, { contractId: true });
      const query = { where: ofContract(filter.contractId), by: ["contractId", "disputeKey"] } as const;
      const page = await store.read((reader) => findPage(reader, "disputes", query, filter));
      return { ...page, items: page.items.map(toDispute) };
    },
  };
}

function ofContract(contractId: string | undefined): { field: "contractId"; op: "="; value: string }[] {
  return contractId === undefined ? [] : [{ field: "contractId", op: "=", value: idOf(contractId) }];
}

function toPayment({ paymentKey: _, ...payment }: PaymentRecord): MirroredPayment {
  return payment;
}

function toDispute({ disputeKey: _, ...dispute }: DisputeRecord): MirroredDispute {
  return dispute;
}

function toSecond(ms: number): string {
  return toIsoTime(ms).slice(0, 19);
}
