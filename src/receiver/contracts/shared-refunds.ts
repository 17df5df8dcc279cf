/**
 * One refund id on two contracts is the service's mistake or ours: each of them is flagged, once and for good
 * (semantics §6). A contract that has taken an id never lets go of it, so that the flags hang on no order of arrival.
 */
import type { RefundRecord } from "../../domain/records.ts";
import { groupBy } from "../../shared/group-by.ts";
import type { NewRow, StoreTransaction } from "../../store/store.ts";
import type { ContractChange } from "../arrival.ts";
import { lastingAnomaly } from "./lasting-anomaly.ts";

export async function flagSharedRefunds(
  tx: StoreTransaction,
  changes: readonly ContractChange[],
): Promise<void> {
  const added = changes.flatMap(({ before, after }) =>
    // A request that has no id yet shares none.
    [...after.refunds.values()].filter(
      ({ refundId, refundKey }) => refundId !== null && !before.refunds.has(refundKey),
    ),
  );
  const adders = groupBy(added, ({ refundKey }) => refundKey);
  const found = await tx.lookup("refunds", "refundId", [...adders.keys()], [], holdersMax(adders));
  const holders = groupBy(found, ({ refundKey }) => refundKey);
  const flags = [...adders].flatMap(([refundId, own]) => flagsOf(own, holders.get(refundId) ?? []));
  await tx.insert("anomalies", flags);
  for (const change of changes) await retime(tx, change);
}

/**
 * How many holders of one id to read: as many as this batch adds, and two more, whichever they are. If several contracts held
 * the id before, two of them are read: they are flagged already, and so are the rest. If one held it, it is read, and gets its
 * flag now. So the cost does not grow with the number of holders. A power of two, because each limit is a statement of its own.
 */
function holdersMax(adders: ReadonlyMap<string, readonly RefundRecord[]>): number {
  const most = [...adders.values()].reduce((max, { length }) => Math.max(max, length), 1);
  return 2 ** Math.ceil(Math.log2(most + 2));
}

/** Those that took the id now, and the one that held it alone. */
function flagsOf(adders: readonly RefundRecord[], holders: readonly RefundRecord[]): NewRow<"anomalies">[] {
  const added = new Set(adders.map(({ contractId }) => contractId));
  const others = holders.filter(({ contractId }) => !added.has(contractId));
  if (adders.length + others.length < 2) return [];
  return [...adders, ...(others.length === 1 ? others : [])].map(toFlag);
}

// Without the milestone: whether it is known yet hangs on what came first (semantics §1.4).
function toFlag(refund: RefundRecord): NewRow<"anomalies"> {
  const { contractId } = refund;
  return lastingAnomaly("refund-id-shared", detailOf(refund), timeOf(refund), { contractId });
}

function detailOf({ refundId }: RefundRecord): string {
  return `refund ${refundId} is named by more than one contract`;
}

/** The time of a flag is that of the refund on its contract, whichever of its webhooks came first. */
function timeOf({ initiatedAt, succeededAt, requestedAt }: RefundRecord): string {
  return initiatedAt ?? succeededAt ?? requestedAt ?? "";
}

async function retime(tx: StoreTransaction, { before, after }: ContractChange): Promise<void> {
  for (const refund of after.refunds.values()) {
    const known = before.refunds.get(refund.refundKey);
    if (known === undefined || known === refund || timeOf(known) === timeOf(refund)) continue;
    const flags = await tx.find("anomalies", {
      where: [
        { field: "contractId", op: "=", value: refund.contractId },
        { field: "kind", op: "=", value: "refund-id-shared" },
        { field: "detail", op: "=", value: detailOf(refund) },
      ],
    });
    await tx.updateEach(
      "anomalies",
      "seq",
      flags.map(({ seq }) => ({ seq, at: timeOf(refund) })),
    );
  }
}
