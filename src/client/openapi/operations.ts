import type { z } from "zod";
import {
  checkoutRenewed,
  checkoutRequest,
  contractCreated,
  contractRetrieved,
  newContract,
  newRefund,
  refundCreated,
} from "../wire/contracts.ts";
import { newUser, onboardingRetrieved, token, tokenRequest, userCreated } from "../wire/users.ts";
import {
  logsRetrieved,
  secretRegenerated,
  testQueued,
  webhookDeleted,
  webhookRetrieved,
  webhookSaved,
  webhookUrl,
} from "../wire/webhooks.ts";

/** Every operation of the service as data: what the document says of it, and which schema its bodies have. */
export interface Operation {
  readonly id: string;
  readonly method: "get" | "post" | "delete";
  readonly path: string;
  readonly tag: "Contracts" | "Refunds" | "Webhooks" | "Users" | "Token";
  readonly summary: string;
  readonly description?: string;
  /** Names of components. */
  readonly parameters?: readonly string[];
  /** The request's schema, and its content type unless JSON. */
  readonly body?: z.ZodType;
  readonly contentType?: string;
  /** The schema of the answer to a success. */
  readonly answer: z.ZodType;
}

const api = "/apps/api";
const ambiguous = "Without an answer its outcome is unknown: there is no idempotency key.";

export const operations: readonly Operation[] = [
  {
    id: "createContract",
    method: "post",
    path: `${api}/contracts`,
    tag: "Contracts",
    summary: "Create a contract",
    description: `The buyer pays at the answer's checkoutUrl. The seller gets a text message that asks for KYC. ${ambiguous}`,
    body: newContract,
    answer: contractCreated,
  },
  {
    id: "renewCheckout",
    method: "post",
    path: `${api}/contracts/checkout`,
    tag: "Contracts",
    summary: "Renew the payment page",
    description: "The last page stops working.",
    body: checkoutRequest,
    answer: checkoutRenewed,
  },
  {
    id: "getContract",
    method: "get",
    path: `${api}/contracts/{externalContractId}`,
    tag: "Contracts",
    summary: "Read a contract",
    parameters: ["ContractId"],
    answer: contractRetrieved,
  },
  {
    id: "createRefund",
    method: "post",
    path: `${api}/contracts/{externalContractId}/refund`,
    tag: "Refunds",
    summary: "Refund a contract or a milestone",
    description: `A contract must be in Escrow or Dispute, a milestone in Escrow. Message keys: BuyerNotAuthorized, BuyerBankAccountNotVerified (400), ExternalUserNotFound (404), FailedToResolveIban (500). ${ambiguous}`,
    parameters: ["ContractId"],
    body: newRefund,
    answer: refundCreated,
  },
  {
    id: "sendTestWebhook",
    method: "post",
    path: `${api}/webhooks/test`,
    tag: "Webhooks",
    summary: "Send a test webhook",
    answer: testQueued,
  },
  {
    id: "getWebhookLogs",
    method: "get",
    path: `${api}/webhooks/logs`,
    tag: "Webhooks",
    summary: "Read the delivery log",
    parameters: ["Page", "PageSize"],
    answer: logsRetrieved,
  },
  {
    id: "saveWebhook",
    method: "post",
    path: `${api}/webhooks`,
    tag: "Webhooks",
    summary: "Subscribe, move, or re-enable",
    description: "One subscription per business. The count of failures starts anew.",
    body: webhookUrl,
    answer: webhookSaved,
  },
  {
    id: "getWebhook",
    method: "get",
    path: `${api}/webhooks`,
    tag: "Webhooks",
    summary: "Read the subscription",
    answer: webhookRetrieved,
  },
  {
    id: "deleteWebhook",
    method: "delete",
    path: `${api}/webhooks`,
    tag: "Webhooks",
    summary: "Remove the subscription",
    answer: webhookDeleted,
  },
  {
    id: "regenerateSecret",
    method: "post",
    path: `${api}/webhooks/regenerate-secret`,
    tag: "Webhooks",
    summary: "Make a new signing secret",
    description: "The old secret stops at once.",
    answer: secretRegenerated,
  },
  {
    id: "createUser",
    method: "post",
    path: `${api}/user`,
    tag: "Users",
    summary: "Create a user",
    body: newUser,
    answer: userCreated,
  },
  {
    id: "getOnboarding",
    method: "get",
    path: `${api}/user/onboarding`,
    tag: "Users",
    summary: "Read how far a user has come",
    parameters: ["PhoneNumber"],
    answer: onboardingRetrieved,
  },
  {
    id: "createToken",
    method: "post",
    path: "/connect/token",
    tag: "Token",
    summary: "Get an access token",
    description: "Served from the service's authorization URL.",
    body: tokenRequest,
    contentType: "application/x-www-form-urlencoded",
    answer: token,
  },
];
