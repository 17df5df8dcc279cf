import type { ExactNumber, UnknownFields } from "./contract.ts";

/** Where the service sends webhooks. */
export interface WebhookSubscription extends UnknownFields {
  /** The subscription's id. */
  readonly id?: string | null | undefined;
  /** Where webhooks go. */
  readonly webhookUrl?: string | null | undefined;
  /** The signing secret. Never log it. */
  readonly secretKey?: string | null | undefined;
  /** `false` once ten deliveries in a row have failed. `webhooks.update` makes it active again. */
  readonly isActive?: boolean | null | undefined;
  /** How many deliveries have failed in a row. */
  readonly consecutiveFailures?: ExactNumber | null | undefined;
  /** When a delivery last succeeded: ISO 8601 in UTC. */
  readonly lastSuccessAt?: string | null | undefined;
  /** When a delivery last failed: ISO 8601 in UTC. */
  readonly lastFailureAt?: string | null | undefined;
  /** When the subscription was created: ISO 8601 in UTC. */
  readonly createdAt?: string | null | undefined;
}

/** A new signing secret. The old one stopped at once. */
export interface RegeneratedSecret extends UnknownFields {
  /** The signing secret. Never log it. */
  readonly secretKey: string;
}

/** The answer to `webhooks.test`. */
export interface QueuedTest extends UnknownFields {
  /** The id of the delivery that will come. */
  readonly webhookId?: string | null | undefined;
  /** A text for people. */
  readonly message?: string | null | undefined;
}

/** One page of the delivery log. */
export interface WebhookLogPage extends UnknownFields {
  /** The entries of this page. */
  readonly logs: readonly WebhookLogEntry[];
  /** How many entries the whole log has. */
  readonly totalCount?: ExactNumber | null | undefined;
  /** This page's number, from 1. */
  readonly page?: ExactNumber | null | undefined;
  /** How many entries a page has. */
  readonly pageSize?: ExactNumber | null | undefined;
}

/** One attempt to deliver a webhook. */
export interface WebhookLogEntry extends UnknownFields {
  /** The entry's id. */
  readonly id: string;
  /** The event, such as `contract.released`. */
  readonly eventType?: string | null | undefined;
  /** The contract; empty for a test. */
  readonly externalContractId?: string | null | undefined;
  /** The service's own number of the contract. */
  readonly contractId?: ExactNumber | null | undefined;
  /** How your endpoint answered; `null` without a connection. */
  readonly httpStatusCode?: ExactNumber | null | undefined;
  /** Whether the attempt succeeded. */
  readonly isSuccess?: boolean | null | undefined;
  /** 1 to 6. */
  readonly attemptNumber?: ExactNumber | null | undefined;
  /** Why the attempt failed. */
  readonly errorMessage?: string | null | undefined;
  /** How long the attempt took, in milliseconds. */
  readonly durationMs?: ExactNumber | null | undefined;
  /** When the attempt was made: ISO 8601 in UTC. */
  readonly createdAt?: string | null | undefined;
}
