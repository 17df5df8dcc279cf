import { ok } from "../../shared/result.ts";
import { refuse } from "../wire/refusal.ts";
import type { Granted } from "../wire/refusal.ts";
import type { RefundRecord } from "../world/records.ts";
import type { World } from "../world/world.ts";
import type { RefundRequest, Target } from "./refund-request.ts";
import { sendSms } from "./users.ts";

/** §4.4: whether a contract's status allows a refund. The control page shows its button then. */
export function isRefundable({ status }: { status: string }): boolean {
  return status === "Escrow" || status === "Dispute";
}

/** The preconditions of §4.4. */
export function checkState(world: World, target: Target, { kind }: RefundRequest): Granted<Target> {
  const { contract, milestone } = target;
  if (findActive(world, target, kind) !== undefined) {
    return refuse(400, "ActiveRefundAlreadyExists", "A refund of this type is under way on this target.");
  }
  if (!isRefundable(contract)) {
    const detail = `The contract is ${contract.status}; it must be Escrow or Dispute.`;
    return refuse(400, "InvalidContractStatus", detail);
  }
  if (milestone !== null && milestone.status !== "Escrow") {
    return refuse(400, "InvalidMilestoneStatus", `The milestone is ${milestone.status}; it must be Escrow.`);
  }
  return ok(target);
}

export function findActive(
  world: World,
  { contract, milestone }: Target,
  kind: RefundRecord["kind"],
): RefundRecord | undefined {
  // A target that never left Escrow has none: spares the walk in the common case.
  if (contract.status !== "RefundInProgress") return undefined;
  const wanted = milestone?.id ?? null;
  return Array.from(world.state.refunds.values()).find(
    (refund) =>
      refund.contractId === contract.contractId &&
      refund.milestoneId === wanted &&
      refund.kind === kind &&
      refund.state === "initiated",
  );
}

/** §4.4's pre-flight checks and the keys of §7.1. */
export function checkBuyer(world: World, target: Target): Granted<Target> {
  const buyer = world.state.users.get(target.contract.buyer);
  if (buyer === undefined || !buyer.known) return refuse(404, "ExternalUserNotFound");
  if (!buyer.authorized) {
    sendSms(world, buyer, "onboarding");
    return refuse(400, "BuyerNotAuthorized");
  }
  if (world.settings.requireVerifiedIban && !buyer.bankVerified) {
    sendSms(world, buyer, "onboarding");
    return refuse(400, "BuyerBankAccountNotVerified");
  }
  return buyer.ibanResolves ? ok(target) : refuse(500, "FailedToResolveIban");
}
