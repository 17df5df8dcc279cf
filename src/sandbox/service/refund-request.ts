import { ok } from "../../shared/result.ts";
import { refuse, refuseFields } from "../wire/refusal.ts";
import type { Granted } from "../wire/refusal.ts";
import { Fields } from "../wire/fields.ts";
import type { ContractRecord, MilestoneRecord } from "../world/records.ts";
import type { World } from "../world/world.ts";
import { findContract, findMilestone } from "./find-contract.ts";

/** §8. Counted as .NET counts: a character beyond the basic plane, such as an emoji, is two. */
const reasonCharactersMax = 500;

/** A refund as a request describes it (§4.4). */
export interface RefundRequest {
  milestoneId: number | null;
  reason: string;
  kind: "full" | "partial";
  /** Of a partial refund, in halalas. */
  amount: number;
}

/** The contract, and the milestone if the refund is one's. */
export interface Target {
  contract: ContractRecord;
  milestone: MilestoneRecord | null;
}

export function readRefundRequest(world: World, body: unknown): Granted<RefundRequest> {
  const fields = new Fields(body);
  const milestoneId = fields.optionalInteger("milestoneId");
  const reason = fields.text("reason", reasonCharactersMax);
  const kind = readKind(world, fields);
  const amount = kind === "partial" ? fields.amount("amount") : 0;
  if (kind === "full" && fields.has("type") && fields.has("amount")) {
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

export function findTarget(
  world: World,
  business: string,
  contractId: string,
  request: RefundRequest,
): Granted<Target> {
  const found = findContract(world, contractId);
  if (!found.ok) return found;
  const contract = found.value;
  if (contract.business !== business) {
    const detail = `This client may not refund ${contractId}: it belongs to another business.`;
    return refuse(403, "RefundNotAllowed", detail);
  }
  if (request.milestoneId === null) {
    if (contract.milestones.length === 0) return checkPartial({ contract, milestone: null }, request);
    const message = "milestoneId is required: the contract has milestones.";
    return refuseFields({ field: "milestoneId", message });
  }
  const milestone = findMilestone(contract, request.milestoneId);
  return milestone.ok ? checkPartial({ contract, milestone: milestone.value }, request) : milestone;
}

function checkPartial(target: Target, request: RefundRequest): Granted<Target> {
  const whole = (target.milestone ?? target.contract).amount;
  if (request.kind === "full" || request.amount < whole) return ok(target);
  return refuseFields({ field: "amount", message: "amount must be below the base amount of the target." });
}
