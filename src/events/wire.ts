import { z } from "zod";
import { idLengthMax } from "../shared/ids.ts";
import { readDecimal } from "../shared/money.ts";
import { fieldTable } from "./fields.ts";
import { NumberText } from "./json.ts";

/** The longest event type, status or currency that is understood, in UTF-16 code units. */
export const nameLengthMax = 255;

const anything = z.unknown().optional();

const longNumber = z.instanceof(NumberText);

const id = z
  .union([z.string(), z.number(), longNumber], { error: "expected a string or a number" })
  .refine((value) => String(value).length <= idLengthMax, {
    error: `expected at most ${idLengthMax} characters`,
  })
  .nullish();

const amount = z
  .union([z.number(), z.string(), longNumber], { error: "expected a number or a decimal text" })
  .refine((value) => typeof value !== "string" || readDecimal(value) !== undefined, {
    error: "expected a decimal",
  })
  .nullish();

const name = z.string({ error: "expected a string" }).max(nameLengthMax, {
  error: `expected at most ${nameLengthMax} characters`,
});

const metadata = z.looseObject({
  milestoneId: id,
  reference: anything,
  metadata1: anything,
  metadata2: anything,
  metadata3: anything,
  metadata4: anything,
});

const data = z.looseObject(
  {
    contractId: id,
    milestoneId: id,
    disputeId: id,
    reference: anything,
    status: name.nullish(),
    previousStatus: name.nullish(),
    amount,
    currency: name.nullish(),
    paymentId: id,
    transactionId: id,
    invoiceId: id,
    timestamp: anything,
    metadata: z.preprocess(objectOrNothing, metadata.optional()),
  },
  { error: "expected an object" },
);

/**
 * The body of a webhook (§6.3) in the service's own camelCase, with as much latitude as can still be understood:
 * null is absent, unknown fields, event types and statuses pass, an id may be a number, an amount a decimal text.
 * Descriptive fields and times may hold anything, and metadata that is no object is dropped: nothing that only
 * describes may cost an event.
 */
export const webhookPayloadSchema = z.looseObject(
  {
    id,
    event: name.regex(/\S/, { error: "expected a non-blank string" }),
    createdAt: anything,
    data,
  },
  { error: "expected an object" },
);

/** What `webhookPayloadSchema` lets through. */
export type WebhookPayload = z.infer<typeof webhookPayloadSchema>;

/**
 * `webhook.test` (§4.5) moves nothing, and the spec doesn't show its data: whatever stands there, the test arrives.
 */
export const testPayloadSchema = webhookPayloadSchema.extend({
  event: z.literal("webhook.test"),
  data: data.catch({}),
});

/** The fields that are read, object by object: exactly the schema's. */
export const payloadTable = fieldTable(Object.keys(webhookPayloadSchema.shape), {
  data: fieldTable(Object.keys(data.shape), { metadata: fieldTable(Object.keys(metadata.shape)) }),
});

function objectOrNothing(value: unknown): unknown {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? value : undefined;
}
