import type { Json } from "../wire/json.ts";
import { writeJson } from "../wire/json.ts";
import { Amount } from "../wire/money.ts";
import type { ContractRecord, MilestoneRecord, PaymentRecord, RefundRecord } from "../world/records.ts";
import type { World } from "../world/world.ts";

/** The fields of an event beside the contract's own. */
export interface EventDetails {
  /** The subject's status before; null for a first event, which has none. */
  previousStatus: string | null;
  /** Makes the milestone the subject: the event is about its status and its amount. */
  milestone?: MilestoneRecord;
  payment?: PaymentRecord;
  disputeId?: string;
  refund?: RefundRecord;
  /** The earlier edition: names the milestone in the metadata only, and speaks of the contract (supplement). */
  metadataMilestone?: MilestoneRecord;
}

/** Builds the payload of §6.3 once and hands it to the delivery engine: these bytes are signed and sent. */
export function emitContractEvent(
  world: World,
  contract: ContractRecord,
  event: string,
  details: EventDetails,
): void {
  const at = world.stamp();
  const webhookId = world.random.guid();
  const payload: Json = {
    id: world.settings.payloadId === "same" ? webhookId : world.random.guid(),
    event,
    createdAt: at,
    data: eventBody(contract, details, at),
  };
  world.deliveries.enqueue({
    webhookId,
    business: contract.business,
    event,
    contractId: contract.contractId,
    internalContractId: contract.internalId,
    milestoneId: (details.milestone ?? details.metadataMilestone)?.id ?? null,
    createdAt: at,
    body: writeJson(payload, world.settings.amountStyle),
  });
}

function eventBody(contract: ContractRecord, details: EventDetails, at: string): Json {
  const { milestone, payment, refund } = details;
  const subject = milestone ?? contract;
  return {
    contractId: contract.contractId,
    milestoneId: milestone?.id,
    disputeId: details.disputeId,
    reference: contract.reference ?? undefined,
    status: subject.status,
    previousStatus: details.previousStatus ?? undefined,
    amount: new Amount(refund?.refundedAmount ?? subject.amount),
    currency: "SAR",
    paymentId: payment?.paymentId,
    transactionId: refund === undefined ? payment?.transactionId : String(refund.refundId),
    invoiceId: payment?.invoiceId,
    timestamp: at,
    metadata: eventMetadata(contract, details),
  };
}

/** §6.3 and §6.4: the contract's metadata and reference, and the milestone's id as a string. */
function eventMetadata(contract: ContractRecord, details: EventDetails): Json {
  const milestone = details.milestone ?? details.metadataMilestone;
  return {
    ...contract.metaData,
    milestoneId: milestone === undefined ? undefined : String(milestone.id),
    reference: contract.reference ?? undefined,
  };
}

/** §4.5: the event `webhook.test`, which concerns no contract. */
export function emitTest(world: World, business: string): string {
  const at = world.stamp();
  const webhookId = world.random.guid();
  const id = world.settings.payloadId === "same" ? webhookId : world.random.guid();
  const payload: Json = {
    id,
    event: "webhook.test",
    createdAt: at,
    data: { message: "This is a test webhook.", timestamp: at, metadata: {} },
  };
  world.deliveries.enqueue({
    webhookId,
    business,
    event: "webhook.test",
    contractId: null,
    internalContractId: null,
    milestoneId: null,
    createdAt: at,
    body: writeJson(payload),
  });
  return webhookId;
}
