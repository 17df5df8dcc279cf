import { z } from "zod";
import { amount, contractId, guid, named, utcTime } from "./schemas.ts";

/** Webhook bodies: §6.1, §6.3, §6.4 and the supplement. */

/** One type of event: its name, the schema of its body, and its meaning. */
export interface WireEvent {
  readonly type: string;
  readonly schema: z.ZodType;
  readonly summary: string;
}

const metadata = named(
  "EventMetadata",
  "Metadata and reference from contract creation.",
  z.strictObject({
    metadata1: z.string().nullish(),
    metadata2: z.string().nullish(),
    metadata3: z.string().nullish(),
    metadata4: z.string().nullish(),
    reference: z.string().nullish(),
    milestoneId: z.string().optional().describe("Milestone events only. Earlier edition: of a refund too."),
  }),
);

const milestoneId = z.union([z.int().min(1), z.string().min(1)]);

const base = {
  contractId,
  reference: z.string().optional().describe("The reference given at contract creation."),
  status: z.string().min(1).describe("The status now, in PascalCase."),
  previousStatus: z.string().min(1).optional(),
  amount: amount.describe("The event's amount in SAR."),
  currency: z.literal("SAR"),
  timestamp: utcTime,
  metadata,
};

const ofMilestone = { milestoneId };
const ofPayment = {
  paymentId: z.string().min(1),
  transactionId: z.string().min(1).describe("The payment's id."),
  invoiceId: z.string().min(1),
};
const ofDispute = { disputeId: z.string().min(1) };
const ofRefund = {
  transactionId: z.string().min(1).describe("The refund's id: both of its events have it."),
};

/** The further fields of its data, by the kind of event. */
const kinds = {
  contract: {},
  payment: ofPayment,
  dispute: ofDispute,
  refund: ofRefund,
  milestone: ofMilestone,
  milestonePayment: { ...ofMilestone, ...ofPayment },
  milestoneDispute: { ...ofMilestone, ...ofDispute },
  milestoneRefund: { ...ofMilestone, ...ofRefund },
} as const;

const earlier = "Earlier edition";

const types: readonly (readonly [type: string, kind: keyof typeof kinds, summary: string])[] = [
  ["contract.created", "contract", "A new contract has been created"],
  ["contract.approved", "contract", "Contract approved by the other party"],
  ["contract.rejected", "contract", "Contract rejected"],
  ["contract.cancelled", "contract", "Contract cancelled"],
  ["payment.completed", "payment", "Payment completed, funds in escrow"],
  ["contract.released", "contract", "Funds released to the seller"],
  ["contract.disputed", "dispute", "A dispute was raised on the contract"],
  ["contract.refunded", "contract", "Legacy event beside refund.full-succeeded"],
  ["refund.full-initiated", "refund", "Full contract refund initiated"],
  ["refund.full-succeeded", "refund", "Full contract refund settled with the bank"],
  ["contract.completed", "contract", "Contract fully completed"],
  ["milestone.payment.completed", "milestonePayment", "Milestone payment completed"],
  ["milestone.released", "milestone", "Milestone released"],
  ["milestone.disputed", "milestoneDispute", "Milestone disputed"],
  ["milestone.completed", "milestone", "Milestone completed"],
  ["milestone.refund.full-initiated", "milestoneRefund", "Milestone full refund initiated"],
  ["milestone.refund.full-succeeded", "milestoneRefund", "Milestone full refund settled"],
  ["contract.delivered", "contract", `${earlier}: the seller has delivered`],
  ["contract.received", "contract", `${earlier}: the buyer has received`],
  ["refund.partial-initiated", "refund", `${earlier}: partial refund initiated`],
  ["refund.partial-succeeded", "refund", `${earlier}: partial refund settled`],
];

/** Every event, in the order of the service's documents. */
export const wireEvents: readonly WireEvent[] = [
  ...types.map(([type, kind, summary]) => {
    const data = z.strictObject({ ...base, ...kinds[kind] });
    return toEvent(type, summary, data);
  }),
  toEvent("webhook.test", "Sent by the test endpoint", z.looseObject({}).describe("Not documented.")),
];

function toEvent(type: string, summary: string, data: z.ZodType): WireEvent {
  const body = z.strictObject({
    id: guid.describe("Unique id of the delivery."),
    createdAt: utcTime,
    event: z.literal(type),
    data,
  });
  return { type, summary, schema: named(schemaOf(type), `${summary}.`, body) };
}

/** `refund.full-initiated` → `RefundFullInitiatedEvent`. */
function schemaOf(type: string): string {
  const words = type.split(/[.-]/).map((word) => word.charAt(0).toUpperCase() + word.slice(1));
  return `${words.join("")}Event`;
}
