import { z } from "zod";
import { idLengthMax } from "../shared/ids.ts";
import { fieldTable } from "./fields.ts";
import { NumberText } from "./json.ts";

/** The longest event type, status or currency that is understood, in UTF-16 code units. */
export const nameLengthMax = 255;

const anything = z.unknown().optional();

type Digits = string | number | NumberText;

// One predicate for a field instead of a union of schemas: most of a payload is ids, and this is the hot path.
const id = z
  .custom<Digits>((value) => isDigits(value) && String(value).length <= idLengthMax, {
    error: `expected a string or a number of at most ${idLengthMax} characters`,
  })
  .nullish();

const name = z.string({ error: "expected a string" }).max(nameLengthMax, {
  error: `expected at most ${nameLengthMax} characters`,
});

const metadataShape = {
  milestoneId: id,
  reference: anything,
  metadata1: anything,
  metadata2: anything,
  metadata3: anything,
  metadata4: anything,
};

const dataShape = {
  contractId: id,
  milestoneId: id,
  disputeId: id,
  reference: anything,
  status: name.nullish(),
  previousStatus: anything,
  amount: anything,
  currency: anything,
  paymentId: id,
  transactionId: id,
  invoiceId: id,
  timestamp: anything,
};

const rootShape = {
  id,
  event: name.regex(/\S/, { error: "expected a non-blank string" }),
  createdAt: anything,
};

const expectedObject = { error: "expected an object" };

/**
 * A zod schema for the body of a webhook, in the service's own camelCase. It accepts `null` for absent fields, unknown
 * fields, event types and statuses, and ids that are numbers. Only ids, `status` and `event` must have the right type.
 */
export const webhookPayloadSchema = z.looseObject(
  {
    ...rootShape,
    /** The event's own fields. */
    data: z.looseObject(
      {
        ...dataShape,
        /** The app's own texts. */
        metadata: z.preprocess(objectOrNothing, z.looseObject(metadataShape).optional()),
      },
      expectedObject,
    ),
  },
  expectedObject,
);

const readData = z.object({ ...dataShape, metadata: z.object(metadataShape).optional() }, expectedObject);

/**
 * The same for what `readFields` gives: known fields under one name, metadata an object or absent. It has nothing to
 * carry over, which makes it several times faster.
 */
export const readPayloadSchema = z.object({ ...rootShape, data: readData }, expectedObject);

/** A payload that `webhookPayloadSchema` has read. */
export type WebhookPayload = z.infer<typeof webhookPayloadSchema>;

export type ReadPayload = z.infer<typeof readPayloadSchema>;

/**
 * `webhook.test` (§4.5) moves nothing, and the spec doesn't show its data: whatever stands there, the test arrives.
 */
export const testPayloadSchema = readPayloadSchema.extend({
  event: z.literal("webhook.test"),
  data: readData.catch({}),
});

/** The fields that are read, object by object: exactly the schema's. */
export const payloadTable = fieldTable(Object.keys(readPayloadSchema.shape), {
  data: fieldTable(Object.keys(readData.shape), {
    metadata: fieldTable(Object.keys(metadataShape), {}, { optional: true }),
  }),
});

function isDigits(value: unknown): value is Digits {
  return typeof value === "string" || typeof value === "number" || value instanceof NumberText;
}

function objectOrNothing(value: unknown): unknown {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? value : undefined;
}
