import { z } from "zod";
import { answerOf } from "./envelope.ts";
import {
  amount,
  contractId,
  count,
  guid,
  iban,
  named,
  nationalId,
  orEmpty,
  phoneNumber,
  positiveAmount,
  text,
  url,
  utcTime,
} from "./schemas.ts";

/** Contracts and refunds: §2.2 to §2.8, §4.1 to §4.4 and the supplement. */

const serviceTypes = ["Product", "Service"] as const;

/** Supplement, in lower case as the API writes them; RefundInProgress is seen in the webhooks. */
const contractStatus = named(
  "ContractStatus",
  "A contract's status.",
  z.enum([
    "draft",
    "pending",
    "accepted",
    "approved",
    "rejected",
    "expired",
    "completed",
    "cancelled",
    "waitingforbankpayment",
    "escrow",
    "dispute",
    "released",
    "refundinprogress",
    "refunded",
    "partiallyrefunded",
    "terminated",
  ]),
);

const milestoneStatus = named(
  "MilestoneStatus",
  "A milestone's status.",
  z.enum(["pending", "escrow", "released", "disputed", "completed", "refundinprogress", "refunded"]),
);

const metaData = {
  metadata1: z.string().nullish(),
  metadata2: z.string().nullish(),
  metadata3: z.string().nullish(),
  metadata4: z.string().nullish(),
};

const kyc = { identity: nationalId, bICCode: z.string().nullish(), dateOfBirth: utcTime.nullish() };
const buyerKyc = named(
  "BuyerKyc",
  "Proof of a buyer's identity.",
  z.object({ ...kyc, IBANNumber: orEmpty(iban).nullish() }),
);
const sellerKyc = named("SellerKyc", "Proof of a seller's identity.", z.object({ ...kyc, IBANNumber: iban }));

/** §2.2: a known user, or phone number and name. */
function partyOf(Kyc: z.ZodType) {
  const KYC = Kyc.nullish();
  const known = z.object({
    platformRefId: z.string().min(1).describe("A user that the service knows."),
    phoneNumber: z.string().nullish(),
    firstName: z.string().nullish(),
    lastName: z.string().nullish(),
    KYC,
  });
  const byPhone = z.object({
    platformRefId: orEmpty(z.null()).optional(),
    phoneNumber,
    firstName: text,
    lastName: z.string(),
    KYC,
  });
  return z.union([known, byPhone]);
}

const partyText = "A user that the service knows, or one by phone number and name.";
const buyerParty = named("BuyerParty", `Who pays. ${partyText}`, partyOf(buyerKyc));
const sellerParty = named("SellerParty", `Who is paid. ${partyText}`, partyOf(sellerKyc));

const newMilestone = named(
  "NewMilestone",
  "One part of a new contract.",
  z.object({
    Name: text,
    Description: z.string().nullish(),
    Amount: positiveAmount.describe("SAR, lower than the contract's amount."),
    DueDate: utcTime,
  }),
);

export const newContract = named(
  "NewContract",
  "A new contract. The amounts of its milestones add up to exactly its own.",
  z.object({
    title: text,
    contractServiceType: z.enum(serviceTypes),
    BuyerParty: buyerParty,
    SellerParty: sellerParty,
    amount: positiveAmount,
    description: z.string().nullish(),
    notes: z.string().nullish(),
    reference: z.string().nullish().describe("Your own id. Answers and webhooks repeat it."),
    metaData: z.object(metaData).nullish(),
    callbackUrl: orEmpty(url).nullish().describe("Where the buyer goes after the payment page."),
    Milestones: z.array(newMilestone).nullish(),
  }),
);

export const checkoutRequest = named(
  "CheckoutRequest",
  "For which contract to renew the payment page.",
  z.object({
    buyerPhoneNumber: phoneNumber,
    externalContractId: contractId,
  }),
);

export const newRefund = named(
  "NewRefund",
  "What to refund, and why.",
  z.object({
    milestoneId: count.nullish().describe("Required where the contract has milestones."),
    reason: text.max(500).describe("Kept for audit."),
    type: z.enum(["FULL", "PARTIAL"]).nullish().describe("Earlier edition. A full refund is the default."),
    amount: positiveAmount
      .nullish()
      .describe("Earlier edition: required with PARTIAL, below the base amount."),
  }),
);

const party = named(
  "Party",
  "A buyer or a seller.",
  z.strictObject({
    platformRefId: z.string().min(1),
    firstName: z.string(),
    lastName: z.string(),
    phoneNumber: z.string(),
  }),
);

const line = {
  lineType: z.enum([
    "contractAmount",
    "escrowFee",
    "escrowFeeTax",
    "externalPlatformFee",
    "externalPlatformFeeTax",
    "netEscrowAmountToSeller",
  ]),
  role: z.enum(["buyer", "seller", "thirdParty"]),
  amount,
  description: z.string().nullable(),
  order: count.describe("Where the line stands, from 1."),
};

const createdLine = named(
  "CreatedPriceLine",
  "One line of a price, as the creation answer has it.",
  z.strictObject({ ...line, LineTypeDescription: z.string(), RoleDescription: z.string() }),
);

const priceLine = named("PriceLine", "One line of a price.", z.strictObject({ ...line, id: guid }));

const milestone = {
  id: count.describe("What a refund names."),
  name: z.string(),
  description: z.string().nullish(),
  amount: amount.describe("SAR: the amount with all fees and taxes."),
  dueDate: utcTime,
};

const createdMilestone = named(
  "CreatedMilestone",
  "One part of a new contract. Samples of the service have these fields in PascalCase.",
  z.strictObject({ ...milestone, pricingLineItems: z.array(createdLine) }),
);

const readMilestone = named(
  "Milestone",
  "One part of a contract. Samples of the service have these fields in PascalCase.",
  z.strictObject({ ...milestone, status: milestoneStatus, pricingLineItems: z.array(priceLine) }),
);

const answeredMetaData = z.strictObject(metaData).nullish();
const serviceType = z.enum(["product", "service"]);

export const contractCreated = answerOf(
  "ContractCreated",
  "The contract was created.",
  z.strictObject({
    contractId,
    status: contractStatus,
    contractServiceType: serviceType,
    checkoutUrl: url.describe("The payment page. Its token lives ten minutes."),
    buyerParty: party,
    sellerParty: party,
    reference: z.string().nullish(),
    metaData: answeredMetaData,
    milestones: z.array(createdMilestone),
    pricingLineItems: z.array(createdLine),
    createdDate: utcTime,
  }),
);

export const contractRetrieved = answerOf(
  "ContractRetrieved",
  "The contract.",
  z.strictObject({
    contractId,
    reference: z.string().nullish(),
    title: z.string(),
    description: z.string().nullish(),
    notes: z.string().nullish(),
    amount: amount.describe("SAR, the base amount.").optional(),
    status: contractStatus,
    contractServiceType: serviceType,
    buyerParty: party,
    sellerParty: party,
    businessName: z.string().optional(),
    createdDate: utcTime,
    updatedDate: utcTime.optional(),
    metaData: answeredMetaData,
    milestones: z.array(readMilestone),
    pricingLineItems: z.array(priceLine),
    transactions: z.array(z.unknown()).describe("The shape of its entries is not documented."),
  }),
);

export const checkoutRenewed = answerOf(
  "CheckoutRenewed",
  "A new payment page.",
  z.strictObject({ checkoutUrl: url }),
);

export const refundCreated = answerOf(
  "RefundCreated",
  "The refund was begun.",
  z.strictObject({
    refundId: count.describe("data.transactionId of the refund's webhooks."),
    settlementId: count.nullable().describe("Of a partial refund only."),
    milestoneId: count.nullable().describe("Of a milestone's refund only."),
    refundedAmount: amount,
    releasedToSellerAmount: amount.nullable().describe("Of a partial refund only."),
    type: z.enum(["FullRefund", "PartialRefund"]),
    externalContractId: contractId,
  }),
);
