import { z } from "zod";
import { numberToText } from "../../events/json.ts";
import { looseFields } from "../any-case.ts";
import type { Contract, CreatedContract, CreatedRefund, RenewedCheckout } from "./contract.ts";
import type { CreatedUser, Onboarding } from "./user.ts";
import type { QueuedTest, RegeneratedSecret, WebhookLogPage, WebhookSubscription } from "./webhook.ts";

/**
 * Readers of `data`. Ids and what a caller can't do without must be there; what only describes is left out where it has
 * another
 * shape; what this release does not know stays.
 */

/** The schema of one operation's `data`. */
export type Reader<Data> = z.ZodType<Data>;

const requiredText = z.string().regex(/\S/, { error: "expected text that is not blank" });

/** An id as text: a number by its digits. */
const id = z.preprocess((value) => (typeof value === "number" ? numberToText(value) : value), requiredText);

/** An id as sent. */
const idAsSent = z.union([z.number(), requiredText]);

const text = z.unknown().transform(toText).optional();
const number = z.unknown().transform(toNumber).optional();
const flag = z.unknown().transform(toFlag).optional();

/** A list without what can't be read: nothing that only describes may cost an answer. */
function listOf<Item extends z.ZodType>(item: Item) {
  return z.array(item).nullish().catch(undefined);
}

function objectOf<Shape extends z.ZodRawShape>(shape: Shape) {
  return looseFields(shape).nullish().catch(undefined);
}

const party = objectOf({ platformRefId: text, firstName: text, lastName: text, phoneNumber: text });

const metaData = objectOf({ metadata1: text, metadata2: text, metadata3: text, metadata4: text });

const priceLine = looseFields({
  id: text,
  lineType: text,
  lineTypeDescription: text,
  role: text,
  roleDescription: text,
  amount: number,
  description: text,
  order: number,
});

// A milestone carries state: one that can't be read makes the answer another shape.
const milestones = z
  .array(
    looseFields({
      id: idAsSent,
      name: text,
      description: text,
      amount: number,
      dueDate: text,
      status: text,
      pricingLineItems: listOf(priceLine),
    }),
  )
  .nullish();

export const createdContract: Reader<CreatedContract> = looseFields({
  contractId: id,
  status: text,
  contractServiceType: text,
  checkoutUrl: requiredText,
  buyerParty: party,
  sellerParty: party,
  reference: text,
  metaData,
  milestones,
  pricingLineItems: listOf(priceLine),
  createdDate: text,
});

const contract = looseFields({
  contractId: id.optional(),
  status: requiredText,
  reference: text,
  title: text,
  description: text,
  notes: text,
  amount: number,
  contractServiceType: text,
  buyerParty: party,
  sellerParty: party,
  businessName: text,
  createdDate: text,
  updatedDate: text,
  metaData,
  milestones,
  pricingLineItems: listOf(priceLine),
  transactions: listOf(z.unknown()),
});

/** §2.7: the table of the get response has an internal `id` instead of the contract's: then it is the one asked for. */
export function contractOf(contractId: string): Reader<Contract> {
  return contract.transform((read): Contract => ({ ...read, contractId: read.contractId ?? contractId }));
}

export const renewedCheckout: Reader<RenewedCheckout> = looseFields({ checkoutUrl: requiredText });

export const createdRefund: Reader<CreatedRefund> = looseFields({
  refundId: idAsSent,
  settlementId: number,
  milestoneId: number,
  refundedAmount: number,
  releasedToSellerAmount: number,
  type: text,
  externalContractId: text,
});

export const subscription: Reader<WebhookSubscription> = looseFields({
  id: text,
  webhookUrl: text,
  secretKey: text,
  isActive: flag,
  consecutiveFailures: number,
  lastSuccessAt: text,
  lastFailureAt: text,
  createdAt: text,
});

export const regeneratedSecret: Reader<RegeneratedSecret> = looseFields({ secretKey: requiredText });

export const queuedTest: Reader<QueuedTest> = looseFields({ webhookId: text, message: text });

export const logPage: Reader<WebhookLogPage> = looseFields({
  logs: z.array(
    looseFields({
      id,
      eventType: text,
      externalContractId: text,
      contractId: number,
      httpStatusCode: number,
      isSuccess: flag,
      attemptNumber: number,
      errorMessage: text,
      durationMs: number,
      createdAt: text,
    }),
  ),
  totalCount: number,
  page: number,
  pageSize: number,
});

/** `data: true`, or whatever a success brings. */
export const deleted: Reader<true> = z.unknown().transform(() => true as const);

export const onboarding: Reader<Onboarding> = looseFields({
  platformRefId: id,
  onboardingUrl: text,
  onboardingCompleted: flag,
  isVerified: flag,
  kycCompleted: flag,
});

export const createdUser: Reader<CreatedUser> = looseFields({ platformRefId: id, kycUrl: text });

function toText(value: unknown): string | null | undefined {
  if (typeof value === "string" || value === null) return value;
  if (typeof value === "number") return numberToText(value);
  return typeof value === "boolean" ? String(value) : undefined;
}

function toNumber(value: unknown): number | string | null | undefined {
  return typeof value === "number" || typeof value === "string" || value === null ? value : undefined;
}

function toFlag(value: unknown): boolean | null | undefined {
  return typeof value === "boolean" || value === null ? value : undefined;
}
