/** A mirror's state in a form that compares, read through the public functions alone. */
import type { Mirror } from "../../mirror/create-mirror.ts";
import type { Page } from "../../queries/page.ts";
import type { MirroredContract, MirroredRefund } from "../../queries/shapes.ts";
import { sortedByText, type LifeTruth } from "../story/truth.ts";

/** The part of a mirror that is equal for equal deliveries. */
export interface Observed {
  readonly contracts: readonly object[];
  readonly history: readonly object[];
  readonly payments: readonly object[];
  readonly disputes: readonly object[];
  readonly anomalies: readonly object[];
  readonly deliveries: readonly object[];
}

/**
 * Reads everything, except when and how often deliveries arrived. Events are named by their payload's id: their webhook id is
 * that of the copy that came first.
 */
export async function readMirror(mirror: Mirror): Promise<Observed> {
  const deliveries = await all((page) => mirror.deliveries.list(page));
  const payloadIds = new Map(deliveries.map(({ webhookId, payloadId }) => [webhookId, payloadId]));
  const contracts = await all((page) => mirror.contracts.list(page));
  const named = <Row extends { webhookId: string | null }>(row: Row): Row => ({
    ...row,
    webhookId: payloadIds.get(row.webhookId ?? "") ?? row.webhookId,
  });
  const history: object[] = [];
  for (const { contractId } of contracts)
    history.push(...(await mirror.contracts.history(contractId)).map(named));
  const anomalies = await all((page) => mirror.anomalies.list(page));
  return {
    contracts: contracts.map(({ changedAt: _, ...contract }) => ({
      ...contract,
      milestones: sortedByText(contract.milestones),
      refunds: sortedByText(contract.refunds),
    })),
    history,
    payments: sortedByText(await all((page) => mirror.payments.list(page))),
    disputes: sortedByText(await all((page) => mirror.disputes.list(page))),
    anomalies: sortedByText(anomalies.map(named)),
    deliveries: sortedByText(
      deliveries.map(({ payloadId, event, outcome, reason, occurredAt }) => ({
        payloadId,
        event,
        outcome,
        reason,
        occurredAt,
      })),
    ),
  };
}

/** The mirror's state of a contract, in the shape of `LifeTruth`. */
export async function readLife(mirror: Mirror, contractId: string): Promise<LifeTruth> {
  const contract = await mirror.contracts.get(contractId);
  const payments = await all((page) => mirror.payments.list({ ...page, contractId }));
  const disputes = await all((page) => mirror.disputes.list({ ...page, contractId }));
  return {
    contractId,
    status: contract?.status ?? null,
    amountMinor: contract?.amountMinor ?? Number.NaN,
    reference: contract?.reference ?? null,
    metadata: { ...contract?.metadata },
    milestones: milestonesOf(contract),
    refunds: sortedByText((contract?.refunds ?? []).map(toToldRefund)),
    payments: sortedByText(
      payments.map(({ contractId: _, currency: __, completedAt: ___, ...payment }) => payment),
    ) as unknown as LifeTruth["payments"],
    disputes: sortedByText(disputes.map(({ contractId: _, ...dispute }) => dispute)),
  };
}

/** Every item of a list, page by page. */
export async function all<Item>(
  list: (page: { cursor: string | null }) => Promise<Page<Item>>,
): Promise<Item[]> {
  const items: Item[] = [];
  let cursor: string | null = null;
  do {
    const page: Page<Item> = await list({ cursor });
    items.push(...page.items);
    cursor = page.nextCursor;
  } while (cursor !== null);
  return items;
}

function milestonesOf(contract: MirroredContract | undefined): Record<string, string> {
  const told = contract?.milestones.map(({ milestoneId, status }) => [milestoneId, String(status)]) ?? [];
  return Object.fromEntries(told) as Record<string, string>;
}

function toToldRefund(refund: MirroredRefund): LifeTruth["refunds"][number] {
  const { refundId, milestoneId, scope, kind, state, amountMinor, initiatedAt, succeededAt } = refund;
  const told = { refundId, milestoneId, scope, kind, state, amountMinor, initiatedAt, succeededAt };
  return told as LifeTruth["refunds"][number];
}
