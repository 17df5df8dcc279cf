import { ok } from "../../shared/result.ts";
import { sleep } from "../../shared/timers.ts";
import { touch } from "./actions.ts";
import { refuse, refuseFields } from "../wire/answer.ts";
import type { Outcome } from "../wire/answer.ts";
import { findContract } from "./contracts.ts";
import { emitContractEvent } from "./events.ts";
import type { EventDetails } from "./events.ts";
import { Fields } from "../wire/fields.ts";
import { refundableContract, refundableMilestone } from "./machine.ts";
import { grossOf, priceOf } from "./pricing.ts";
import type { ContractRecord, MilestoneRecord, RefundRecord } from "../world/records.ts";
import { sendSms } from "./users.ts";
import type { World } from "../world/world.ts";

/** §8. */
const reasonCharactersMax = 500;

interface RefundRequest {
  milestoneId: number | null;
  reason: string;
  kind: "full" | "partial";
  amount: number;
}

interface Target {
  contract: ContractRecord;
  milestone: MilestoneRecord | null;
}

/**
 * §4.4. Reads the request, finds what it is about, asks for the buyer's bank record, which takes a moment, and only
 * then creates the refund: who finds that another one got there first in that moment is answered 409.
 */
export async function requestRefund(
  world: World,
  business: string,
  contractId: string,
  body: unknown,
): Promise<Outcome<RefundRecord>> {
  const request = readRequest(world, body);
  if (!request.ok) return request;
  const target = findTarget(world, business, contractId, request.value);
  if (!target.ok) return target;
  const forbidden =
    refuseByState(world, target.value, request.value) ?? refuseByBuyer(world, target.value.contract);
  if (forbidden !== undefined) return forbidden;
  await sleep(world.settings.preflightMs);
  if (activeRefund(world, target.value, request.value.kind) !== undefined) {
    return refuse(
      409,
      "ConcurrentRefund",
      "Another refund of the same target was accepted at the same moment.",
    );
  }
  const changed = refuseByState(world, target.value, request.value);
  return changed ?? ok(initiate(world, target.value, request.value));
}

function readRequest(world: World, body: unknown): Outcome<RefundRequest> {
  const fields = new Fields(body);
  const milestoneId = fields.optionalInteger("milestoneId");
  const reason = fields.text("reason", reasonCharactersMax);
  const kind = readKind(world, fields);
  const amount = kind === "partial" ? fields.amount("amount") : 0;
  if (kind === "full" && fields.optionalText("type") !== null && fields.has("amount")) {
    fields.fail("amount", "must be left out of a full refund.");
  }
  if (fields.errors.length > 0) return refuseFields(...fields.errors);
  return ok({ milestoneId, reason, kind, amount });
}

/** Partial refunds belong to the earlier edition; taking one for a full refund would move the wrong sum. */
function readKind(world: World, fields: Fields): "full" | "partial" {
  const type = fields.optionalText("type")?.toUpperCase() ?? "FULL";
  if (type === "PARTIAL" && world.settings.partialRefunds) return "partial";
  if (type === "PARTIAL")
    fields.fail("type", "PARTIAL is not offered: the sandbox option partialRefunds is off.");
  else if (type !== "FULL") fields.fail("type", "must be FULL or PARTIAL.");
  return "full";
}

function findTarget(
  world: World,
  business: string,
  contractId: string,
  request: RefundRequest,
): Outcome<Target> {
  const found = findContract(world, contractId);
  if (!found.ok) return found;
  const contract = found.value;
  if (contract.business !== business) {
    return refuse(
      403,
      "RefundNotAllowed",
      `This client may not refund ${contractId}: it belongs to another business.`,
    );
  }
  if (request.milestoneId === null) {
    if (contract.milestones.length === 0) return checkPartial({ contract, milestone: null }, request);
    return refuseFields({
      field: "milestoneId",
      message: "milestoneId is required: the contract has milestones.",
    });
  }
  const milestone = contract.milestones.find(({ id }) => id === request.milestoneId);
  if (milestone === undefined) {
    return refuse(404, "MilestoneNotFound", `${contractId} has no milestone ${request.milestoneId}.`);
  }
  return checkPartial({ contract, milestone }, request);
}

function checkPartial(target: Target, request: RefundRequest): Outcome<Target> {
  const whole = (target.milestone ?? target.contract).amount;
  if (request.kind === "partial" && request.amount >= whole) {
    return refuseFields({ field: "amount", message: "amount must be below the base amount of the target." });
  }
  return ok(target);
}

function refuseByState(world: World, target: Target, { kind }: RefundRequest) {
  const { contract, milestone } = target;
  if (activeRefund(world, target, kind) !== undefined) {
    return refuse(400, "ActiveRefundAlreadyExists", "A refund of this type is under way on this target.");
  }
  if (!refundableContract.includes(contract.status)) {
    return refuse(
      400,
      "InvalidContractStatus",
      `The contract is ${contract.status}; it must be Escrow or Dispute.`,
    );
  }
  if (milestone !== null && !refundableMilestone.includes(milestone.status)) {
    return refuse(400, "InvalidMilestoneStatus", `The milestone is ${milestone.status}; it must be Escrow.`);
  }
  return undefined;
}

function activeRefund(world: World, { contract, milestone }: Target, kind: RefundRecord["kind"]) {
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
function refuseByBuyer(world: World, contract: ContractRecord) {
  const buyer = world.state.users.get(contract.buyer);
  if (buyer === undefined || !buyer.known) return refuse(404, "ExternalUserNotFound");
  if (!buyer.authorized) {
    sendSms(world, buyer, "onboarding");
    return refuse(400, "BuyerNotAuthorized");
  }
  if (world.settings.requireVerifiedIban && !buyer.bankVerified) {
    sendSms(world, buyer, "onboarding");
    return refuse(400, "BuyerBankAccountNotVerified");
  }
  if (!buyer.ibanResolves) return refuse(500, "FailedToResolveIban");
  return undefined;
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
export function settleRefund(world: World, refundId: number): Outcome<RefundRecord> {
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
