import { ok } from "../../shared/result.ts";
import { sleep } from "../../shared/timers.ts";
import { refuse } from "../wire/refusal.ts";
import type { Granted } from "../wire/refusal.ts";
import type { ContractRecord, RefundRecord } from "../world/records.ts";
import type { World } from "../world/world.ts";
import { touch } from "./actions.ts";
import { emitContractEvent } from "./events.ts";
import type { EventDetails } from "./events.ts";
import { grossOf, priceOf } from "./pricing.ts";
import { checkBuyer, checkState, findActive } from "./refund-checks.ts";
import { findTarget, readRefundRequest } from "./refund-request.ts";
import type { RefundRequest, Target } from "./refund-request.ts";

/**
 * §4.4. Reads the request, finds what it is about, asks for the buyer's bank record, which takes a moment, and only
 * then creates the refund: who finds that another one got there first in that moment is answered 409.
 */
export async function requestRefund(
  world: World,
  business: string,
  contractId: string,
  body: unknown,
): Promise<Granted<RefundRecord>> {
  const request = readRefundRequest(world, body);
  if (!request.ok) return request;
  const target = findTarget(world, business, contractId, request.value);
  if (!target.ok) return target;
  const before = checkState(world, target.value, request.value);
  if (!before.ok) return before;
  const buyer = checkBuyer(world, target.value);
  if (!buyer.ok) return buyer;
  await sleep(world.settings.preflightMs);
  return takeIfFirst(world, target.value, request.value);
}

function takeIfFirst(world: World, target: Target, request: RefundRequest): Granted<RefundRecord> {
  if (findActive(world, target, request.kind) !== undefined) {
    const detail = "Another refund of the same target was accepted at the same moment.";
    return refuse(409, "ConcurrentRefund", detail);
  }
  const state = checkState(world, target, request);
  return state.ok ? ok(initiate(world, target, request)) : state;
}

function initiate(world: World, target: Target, request: RefundRequest): RefundRecord {
  const { contract, milestone } = target;
  const statusBefore = contract.status;
  const partial = request.kind === "partial";
  const whole = wholeAmount(world, target);
  const refund: RefundRecord = {
    refundId: world.state.count("refund"),
    contractId: contract.contractId,
    milestoneId: milestone?.id ?? null,
    kind: request.kind,
    state: "initiated",
    reason: request.reason,
    refundedAmount: partial ? request.amount : whole,
    releasedToSellerAmount: partial ? whole - request.amount : null,
    settlementId: partial ? world.state.count("settlement") : null,
    statusBefore,
    initiatedAt: world.stamp(),
    succeededAt: null,
  };
  contract.status = "RefundInProgress";
  if (milestone !== null) milestone.status = "RefundInProgress";
  world.state.saveRefund(refund);
  touch(world, contract);
  emitRefundEvent(world, target, refund, "initiated", { contract: statusBefore, milestone: "Escrow" });
  return refund;
}

/** Fees stay with the platform: what goes back is the principal (§4.4). */
function wholeAmount(world: World, { contract, milestone }: Target): number {
  if (milestone === null) return contract.amount;
  const { milestoneRefundAmount, fees } = world.settings;
  return milestoneRefundAmount === "gross" ? grossOf(priceOf(milestone.amount, fees)) : milestone.amount;
}

/** The bank has paid the buyer back (§3). 409 when it already had. */
export function settleRefund(world: World, refundId: number): Granted<RefundRecord> {
  const refund = world.state.refunds.get(refundId);
  const contract = refund && world.state.contracts.get(refund.contractId);
  if (refund === undefined || contract === undefined) {
    return refuse(404, "RefundNotFound", `There is no refund ${refundId}.`);
  }
  if (refund.state !== "initiated") {
    return refuse(409, "ActionNotAllowed", `Refund ${refundId} has settled already.`);
  }
  const milestone = contract.milestones.find(({ id }) => id === refund.milestoneId) ?? null;
  refund.state = "succeeded";
  refund.succeededAt = world.stamp();
  contract.status = milestone === null ? "Refunded" : statusAfterMilestone(world, refund);
  if (milestone !== null) milestone.status = "Refunded";
  world.state.saveRefund(refund);
  touch(world, contract);
  const target = { contract, milestone };
  emitRefundEvent(world, target, refund, "succeeded", {
    contract: "RefundInProgress",
    milestone: "RefundInProgress",
  });
  if (milestone === null && world.settings.legacyRefunded) {
    emitContractEvent(world, contract, "contract.refunded", { previousStatus: "RefundInProgress" });
  }
  return ok(refund);
}

/** §3: the contract becomes Cancelled. `restore` lets the other milestones go on. */
function statusAfterMilestone(world: World, refund: RefundRecord): ContractRecord["status"] {
  return world.settings.afterMilestoneRefund === "restore" ? refund.statusBefore : "Cancelled";
}

function emitRefundEvent(
  world: World,
  { contract, milestone }: Target,
  refund: RefundRecord,
  state: RefundRecord["state"],
  previous: { contract: string; milestone: string },
): void {
  const name = `${refund.kind}-${state}`;
  const ownName = milestone !== null && refund.kind === "full" && world.settings.edition === "current";
  const details: EventDetails = { previousStatus: ownName ? previous.milestone : previous.contract, refund };
  if (ownName) details.milestone = milestone;
  else if (milestone !== null) details.metadataMilestone = milestone;
  emitContractEvent(world, contract, `${ownName ? "milestone.refund" : "refund"}.${name}`, details);
}
