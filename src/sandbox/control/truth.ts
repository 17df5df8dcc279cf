import { allowedActions, allowedMilestoneActions } from "../service/actions.ts";
import type { ContractAction } from "../service/machine.ts";
import type {
  AttemptRecord,
  ContractRecord,
  DeliveryRecord,
  DeliveryState,
  RefundRecord,
} from "../world/records.ts";
import type { World } from "../world/world.ts";

/** The sandbox's own state, to compare a mirror with. Names and units are those of the mirror's contracts. */
export interface SandboxContract {
  contractId: string;
  /** As §3 spells it: `pending`, `Approved`, `Escrow` … */
  status: string;
  reference: string | null;
  title: string;
  /** Base amount in halalas. */
  amountMinor: number;
  currency: "SAR";
  metadata: Record<string, string>;
  buyer: string;
  seller: string;
  milestones: SandboxMilestone[];
  refunds: SandboxRefund[];
  paymentId: string | null;
  disputeId: string | null;
  /** What `act` may do now. */
  actions: ContractAction[];
  createdAt: string;
  updatedAt: string;
}

export interface SandboxMilestone {
  milestoneId: string;
  name: string;
  /** `Pending` until it is paid: the service sends no event before. */
  status: string;
  amountMinor: number;
  dueDate: string;
  disputeId: string | null;
  actions: ContractAction[];
}

export interface SandboxRefund {
  refundId: string;
  contractId: string;
  milestoneId: string | null;
  scope: "contract" | "milestone";
  kind: "full" | "partial";
  state: "initiated" | "succeeded";
  amountMinor: number;
  initiatedAt: string;
  succeededAt: string | null;
}

/** One webhook and every attempt to deliver it. */
export interface SandboxDelivery {
  webhookId: string;
  event: string;
  contractId: string | null;
  milestoneId: string | null;
  /**
   * `pending`: waits for an attempt. `delivered`, `failed`: done. `dropped`: by the fault. `skipped`: nobody was
   * subscribed.
   */
  state: DeliveryState;
  reason: string | null;
  createdAt: string;
  nextAttemptAt: string | null;
  /** Exactly what is signed and sent. */
  body: string;
  attempts: SandboxAttempt[];
}

export type SandboxAttempt = Readonly<AttemptRecord>;

export function toSandboxContract(world: World, contract: ContractRecord): SandboxContract {
  return toContract(world, contract, listRefunds(world, contract.contractId));
}

/** All contracts with their refunds, in the order of their creation. */
export function listContracts(world: World): SandboxContract[] {
  const refunds = new Map<string, SandboxRefund[]>();
  for (const refund of world.state.refunds.values()) {
    refunds.set(refund.contractId, [...(refunds.get(refund.contractId) ?? []), toSandboxRefund(refund)]);
  }
  return Array.from(world.state.contracts.values(), (contract) =>
    toContract(world, contract, refunds.get(contract.contractId) ?? []),
  );
}

export function listRefunds(world: World, contractId?: string): SandboxRefund[] {
  return Array.from(world.state.refunds.values())
    .filter((refund) => contractId === undefined || refund.contractId === contractId)
    .map(toSandboxRefund);
}

function toContract(world: World, contract: ContractRecord, refunds: SandboxRefund[]): SandboxContract {
  return {
    contractId: contract.contractId,
    status: contract.status === "Pending" ? "pending" : contract.status,
    reference: contract.reference,
    title: contract.title,
    amountMinor: contract.amount,
    currency: "SAR",
    metadata: { ...contract.metaData },
    buyer: contract.buyer,
    seller: contract.seller,
    milestones: contract.milestones.map((milestone) => ({
      milestoneId: String(milestone.id),
      name: milestone.name,
      status: milestone.status,
      amountMinor: milestone.amount,
      dueDate: milestone.dueDate,
      disputeId: milestone.disputeId,
      actions: allowedMilestoneActions(contract, milestone),
    })),
    refunds,
    paymentId: contract.payment?.paymentId ?? null,
    disputeId: contract.disputeId,
    actions: allowedActions(world, contract),
    createdAt: contract.createdDate,
    updatedAt: contract.updatedDate,
  };
}

export function toSandboxRefund(refund: RefundRecord): SandboxRefund {
  return {
    refundId: String(refund.refundId),
    contractId: refund.contractId,
    milestoneId: refund.milestoneId === null ? null : String(refund.milestoneId),
    scope: refund.milestoneId === null ? "contract" : "milestone",
    kind: refund.kind,
    state: refund.state,
    amountMinor: refund.refundedAmount,
    initiatedAt: refund.initiatedAt,
    succeededAt: refund.succeededAt,
  };
}

export function toSandboxDelivery(delivery: DeliveryRecord): SandboxDelivery {
  const { webhookId, event, contractId, milestoneId, state, reason, createdAt, body, nextAttemptAtMs } =
    delivery;
  return {
    webhookId,
    event,
    contractId,
    milestoneId: milestoneId === null ? null : String(milestoneId),
    state,
    reason,
    createdAt,
    nextAttemptAt:
      nextAttemptAtMs === null || state !== "pending" ? null : new Date(nextAttemptAtMs).toISOString(),
    body,
    attempts: [...delivery.attempts],
  };
}
