import { z } from "zod";
import { answerOf } from "./envelope.ts";
import { contractId, count, guid, named, url, utcTime } from "./schemas.ts";

/** The subscription and its delivery log: §2.9, §4.5 to §4.7 and the supplement. */

export const webhookUrl = named("WebhookUrl", "Where webhooks are to go.", z.object({ webhookUrl: url }));

const subscription = named(
  "Subscription",
  "Where webhooks go.",
  z.strictObject({
    id: guid,
    webhookUrl: url,
    secretKey: z.string().min(1).describe("The signing secret."),
    isActive: z.boolean().describe("False once ten deliveries in a row have failed."),
    consecutiveFailures: z.int().min(0),
    lastSuccessAt: utcTime.nullable(),
    lastFailureAt: utcTime.nullable(),
    createdAt: utcTime,
  }),
);

export const webhookSaved = answerOf("WebhookSaved", "The subscription is active.", subscription);
export const webhookRetrieved = answerOf("WebhookRetrieved", "The subscription.", subscription);
export const webhookDeleted = answerOf(
  "WebhookDeleted",
  "There is no subscription any more.",
  z.literal(true),
);
export const secretRegenerated = answerOf(
  "SecretRegenerated",
  "A new signing secret. The old one stopped at once.",
  z.strictObject({ secretKey: z.string().min(1) }),
);
export const testQueued = answerOf(
  "TestQueued",
  "A webhook.test will come.",
  z.strictObject({ webhookId: guid, message: z.string() }),
);

const logEntry = named(
  "WebhookLogEntry",
  "One attempt to deliver a webhook.",
  z.strictObject({
    id: guid,
    eventType: z.string().min(1),
    externalContractId: z.union([contractId, z.literal("")]).describe("Empty for webhook.test."),
    contractId: z.int().min(0).describe("The service's own number of the contract; 0 for webhook.test."),
    httpStatusCode: z.int().min(100).max(599).nullable().describe("Null without a connection."),
    isSuccess: z.boolean(),
    attemptNumber: count,
    errorMessage: z.string().nullable(),
    durationMs: z.int().min(0),
    createdAt: utcTime,
  }),
);

export const logsRetrieved = answerOf(
  "LogsRetrieved",
  "One page of the delivery log.",
  z.strictObject({
    logs: z.array(logEntry),
    totalCount: z.int().min(0),
    page: count,
    pageSize: count.max(100),
  }),
);
