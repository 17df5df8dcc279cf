/** `escrow-mirror/client`: the escrow service's API. */
export { createClient } from "./client/create-client.ts";
export type { Client } from "./client/create-client.ts";
export { EscrowApiError, isEscrowApiError } from "./client/api-error.ts";
export type { ApiErrorCode, ApiErrorDetails, ValidationError } from "./client/api-error.ts";
export type {
  AccessToken,
  ClientOptions,
  CommonOptions,
  CredentialOptions,
  SandboxLike,
  TokenOptions,
} from "./client/options.ts";
export type { AnswerInfo, CallOptions } from "./client/http/call.ts";
export type { Fetch, FetchInit, FetchResponse } from "./client/http/fetch.ts";
export type { ContractCalls } from "./client/contracts.ts";
export type { WebhookCalls } from "./client/webhooks.ts";
export type { UserCalls } from "./client/users.ts";
export type {
  AmountInput,
  ContractInput,
  MetaDataInput,
  MilestoneInput,
} from "./client/input/contract-input.ts";
export type { KycInput, PartyInput } from "./client/input/party-input.ts";
export type { RefundInput } from "./client/input/refund-input.ts";
export type { CheckoutInput, PhoneInput, UserInput } from "./client/input/user-input.ts";
export type { AllLogsInput, LogsInput, WebhookInput } from "./client/input/webhook-input.ts";
export type {
  ApiStatus,
  Contract,
  ContractMetaData,
  ContractMilestone,
  ContractParty,
  CreatedContract,
  CreatedRefund,
  ExactNumber,
  PriceLine,
  RenewedCheckout,
  UnknownFields,
} from "./client/answer/contract.ts";
export type {
  QueuedTest,
  RegeneratedSecret,
  WebhookLogEntry,
  WebhookLogPage,
  WebhookSubscription,
} from "./client/answer/webhook.ts";
export type { CreatedUser, Onboarding } from "./client/answer/user.ts";
export type { Clock } from "./shared/clock.ts";
