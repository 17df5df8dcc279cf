import { allowedActions, allowedMilestoneActions } from "../service/actions.ts";
import { checkoutUrl } from "../service/checkout.ts";
import type { ContractAction } from "../service/machine.ts";
import type { ContractRecord, MilestoneRecord, RefundRecord } from "../world/records.ts";
import type { World } from "../world/world.ts";

/** A contract as the sandbox knows it, to compare a mirror with. Names and units are those of the mirror's contracts. */
export interface SandboxContract {
  /** Such as `CNT-2601-00100001`. */
  contractId: string;
  /** `pending`, `Approved`, `Escrow` and so on. */
  status: string;
  /** Your own identifier; null if none was given. */
  reference: string | null;
  /** As given. */
  title: string;
  /** The base amount in halalas, without fees. */
  amountMinor: number;
  /** Always SAR. */
  currency: "SAR";
  /** `metadata1` to `metadata4`, as far as given. */
  metadata: Record<string, string>;
  /** The buyer's platformRefId. */
  buyer: string;
  /** The seller's platformRefId. */
  seller: string;
  /** In the order of the request; empty without milestones. */
  milestones: SandboxMilestone[];
  /** Oldest first. */
  refunds: SandboxRefund[];
  /** Null until it is paid. */
  paymentId: string | null;
  /** Null until there is a dispute. */
  disputeId: string | null;
  /** The page where the buyer pays. It works for ten minutes. Null when there is nothing to pay. */
  checkoutUrl: string | null;
  /** Actions that `act` may do now. */
  actions: ContractAction[];
  /** ISO 8601 UTC. */
  createdAt: string;
  /** Of the last change, in ISO 8601 UTC. */
  updatedAt: string;
}

/** A milestone as the sandbox knows it. */
export interface SandboxMilestone {
  /** The service's number, as text. */
  milestoneId: string;
  /** As given. */
  name: string;
  /** `Pending` until it is paid. The service sends no event before. */
  status: string;
  /** The base amount in halalas, without fees. */
  amountMinor: number;
  /** As given, in ISO 8601 UTC. */
  dueDate: string;
  /** Null until there is a dispute. */
  disputeId: string | null;
  /** Actions that `act` may do now. */
  actions: ContractAction[];
}

/** A refund as the sandbox knows it. */
export interface SandboxRefund {
  /** The service's number, as text. */
  refundId: string;
  /** The contract that it belongs to. */
  contractId: string;
  /** Null for a refund of the whole contract. */
  milestoneId: string | null;
  /** Whether it is of the whole contract or of one milestone. */
  scope: "contract" | "milestone";
  /** With `partial` the seller gets the rest. */
  kind: "full" | "partial";
  /** `initiated` until `settleRefund`. */
  state: "initiated" | "succeeded";
  /** As the request gave it. The service stores it for audit. Its API never returns it. */
  reason: string;
  /** The buyer's amount, in halalas. */
  amountMinor: number;
  /** ISO 8601 UTC. */
  initiatedAt: string;
  /** ISO 8601 UTC; null until it has settled. */
  succeededAt: string | null;
}

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
  const actions = allowedActions(world, contract);
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
    milestones: contract.milestones.map((milestone) => toMilestone(contract, milestone)),
    refunds,
    paymentId: contract.payment?.paymentId ?? null,
    disputeId: contract.disputeId,
    checkoutUrl: actions.includes("pay") ? checkoutUrl(world, contract) : null,
    actions,
    createdAt: contract.createdDate,
    updatedAt: contract.updatedDate,
  };
}

function toMilestone(contract: ContractRecord, milestone: MilestoneRecord): SandboxMilestone {
  return {
    milestoneId: String(milestone.id),
    name: milestone.name,
    status: milestone.status,
    amountMinor: milestone.amount,
    dueDate: milestone.dueDate,
    disputeId: milestone.disputeId,
    actions: allowedMilestoneActions(contract, milestone),
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
    reason: refund.reason,
    amountMinor: refund.refundedAmount,
    initiatedAt: refund.initiatedAt,
    succeededAt: refund.succeededAt,
  };
}
