/** A shop's reactions to contracts: it ships what is paid, and shows each order's status. */
import type { Mirror } from "escrow-mirror";

/** The parcels and statuses of the shop so far. */
export interface Orders {
  readonly parcels: readonly string[];
  readonly statuses: Readonly<Record<string, string>>;
}

/** Registers the shop's handlers. Returns what the shop has done so far. */
export function registerOrders(mirror: Mirror): () => Orders {
  const parcels = new Map<string, string>();
  const statuses = new Map<string, string>();
  mirror.on(
    "payment.completed",
    // The key names the payment: it gets one parcel, however often the handler runs.
    ({ contractId, transactionId }) => void parcels.set(`${contractId}-${transactionId}`, contractId),
    { name: "ship" },
  );
  mirror.on(
    "*",
    // The mirror's status, not the event's: this event may be an old one.
    ({ contractId }, { contract }) => void (contract && statuses.set(contractId, contract.status)),
    { name: "show-status" },
  );
  return () => ({ parcels: [...parcels.values()].sort(), statuses: sorted(statuses) });
}

/** The same shop with two mistakes: a parcel for each attempt, and the status of whatever event came last. */
export function registerHastyOrders(mirror: Mirror): () => Orders {
  const parcels: string[] = [];
  const statuses = new Map<string, string>();
  mirror.on("payment.completed", ({ contractId }) => void parcels.push(contractId), { name: "ship" });
  mirror.on("*", ({ contractId, status }) => void statuses.set(contractId, status ?? ""), {
    name: "show-status",
  });
  return () => ({ parcels: parcels.toSorted(), statuses: sorted(statuses) });
}

function sorted(statuses: ReadonlyMap<string, string>): Record<string, string> {
  return Object.fromEntries([...statuses].sort(([a], [b]) => (a < b ? -1 : 1)));
}
