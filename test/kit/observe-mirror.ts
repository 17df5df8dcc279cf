import type { Mirror } from "../../src/index.ts";
import type { Observation } from "../../src/testing.ts";

/** What a mirror has of a contract, for the checks of a receiver. */
export async function observeMirror(mirror: Mirror, contractId: string): Promise<Observation | undefined> {
  const contract = await mirror.contracts.get(contractId);
  if (contract === undefined) return undefined;
  const { items } = await mirror.payments.list({ contractId });
  const refunds = contract.refunds.map(({ refundId, state }) => [refundId, state]);
  return {
    status: contract.status,
    paidMinor: items.reduce((sum, { amountMinor }) => sum + (amountMinor ?? 0), 0),
    refunds: Object.fromEntries(refunds) as Record<string, string>,
    history: (await mirror.contracts.history(contractId)).map(({ from, to, moved }) => ({ from, to, moved })),
  };
}
