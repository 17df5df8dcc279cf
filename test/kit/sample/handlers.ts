/** The handlers of a careful order service. Faults are planted here, to try the kit. */
import type { Mirror } from "../../../src/index.ts";
import type { Life } from "../../../src/testing.ts";

/** What the orders of a shop come to. */
export interface Shop {
  /** How many parcels went out for each contract. */
  readonly parcels: Readonly<Record<string, number>>;
  readonly status: Readonly<Record<string, string>>;
  /** What came in and went back, in halalas. */
  readonly balance: Readonly<Record<string, number>>;
}

const refundEvents = [
  "refund.full-succeeded",
  "refund.partial-succeeded",
  "milestone.refund.full-succeeded",
] as const;

/** Registers the handlers; gives what they have made. */
export function register(mirror: Mirror): () => Shop {
  const shipped = new Map<string, string>();
  const booked = new Map<string, { contractId: string; amountMinor: number }>();
  const status = new Map<string, string>();

  mirror.on(
    "payment.completed",
    async ({ contractId, paymentId }) => {
      shipped.set(`${contractId} ${paymentId}`, contractId);
    },
    { name: "ship" },
  );
  mirror.on(
    "payment.completed",
    async ({ contractId, paymentId, amountMinor }) => {
      booked.set(`payment ${contractId} ${paymentId}`, { contractId, amountMinor: amountMinor ?? 0 });
    },
    { name: "ledger-in" },
  );
  mirror.on(
    refundEvents,
    async ({ contractId, transactionId, amountMinor }) => {
      booked.set(`refund ${contractId} ${transactionId}`, { contractId, amountMinor: -(amountMinor ?? 0) });
    },
    { name: "ledger-out" },
  );
  mirror.on(
    "*",
    async ({ contractId }, { contract }) => {
      if (contract !== undefined) status.set(contractId, contract.status);
    },
    { name: "order-status" },
  );
  return () => ({
    parcels: totals([...shipped.values()].map((contractId) => ({ contractId, amountMinor: 1 }))),
    status: sorted(Object.fromEntries(status)),
    balance: totals([...booked.values()]),
  });
}

/** What the shop must come to, by the service's own record. */
export function stateOf(lives: readonly Life[]): Shop {
  const truths = lives.map(({ truth }) => truth);
  const paid = truths.flatMap(({ contractId, payments }) =>
    payments
      .filter(({ milestoneId }) => milestoneId === null)
      .map(({ amountMinor }) => ({ contractId, amountMinor })),
  );
  const back = truths.flatMap(({ contractId, refunds }) =>
    refunds
      .filter(({ state }) => state === "succeeded")
      .map(({ amountMinor }) => ({ contractId, amountMinor: -amountMinor })),
  );
  return {
    parcels: totals(paid.map(({ contractId }) => ({ contractId, amountMinor: 1 }))),
    status: sorted(
      Object.fromEntries(truths.map(({ contractId, status }) => [contractId, status ?? "unknown"])),
    ),
    balance: totals([...paid, ...back]),
  };
}

function totals(entries: readonly { contractId: string; amountMinor: number }[]): Record<string, number> {
  const sums: Record<string, number> = {};
  for (const { contractId, amountMinor } of entries) sums[contractId] = (sums[contractId] ?? 0) + amountMinor;
  return sorted(sums);
}

function sorted<Value>(record: Readonly<Record<string, Value>>): Record<string, Value> {
  return Object.fromEntries(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1)));
}
