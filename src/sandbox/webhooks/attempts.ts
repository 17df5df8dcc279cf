import { Buffer } from "node:buffer";

import type { AttemptRecord, DeliveryRecord, SubscriptionRecord } from "../world/records.ts";
import type { Sent, SignedRequest } from "./send.ts";
import type { Settings } from "../world/settings.ts";
import type { World } from "../world/world.ts";

/** What an attempt's answer means (§6.5). */
export type Verdict = "delivered" | "retry" | "permanent";

const retryable = new Set([408, 429, 500, 502, 503, 504]);
const permanent = new Set([400, 401, 403, 404]);

/**
 * §6.5 names some statuses retryable and some permanent, and says that any that is not 2xx is retried: so a status
 * in neither list (a redirect, 418) is, unless `otherStatuses` says otherwise. No answer is retried.
 */
export function judge(status: number | null, settings: Settings): Verdict {
  if (status === null || retryable.has(status)) return "retry";
  if (status >= 200 && status < 300) return "delivered";
  if (permanent.has(status) || settings.otherStatuses === "fail") return "permanent";
  return "retry";
}

type Signer = Pick<World, "settings" | "faults">;

/** §6.2. The body becomes bytes here, once; these are signed and these are sent. */
export function signRequest(
  world: Signer,
  delivery: DeliveryRecord,
  subscription: SubscriptionRecord,
): SignedRequest {
  const { headerPrefix, sign } = world.settings;
  const body = Buffer.from(delivery.body, "utf8");
  const signature = sign(body, subscription.secretKey);
  return {
    url: subscription.webhookUrl,
    body,
    headers: {
      "Content-Type": "application/json",
      [`${headerPrefix}Signature`]: world.faults.corruptsSignature() ? corrupt(signature) : signature,
      [`${headerPrefix}Event`]: delivery.event,
      [`${headerPrefix}Webhook-Id`]: delivery.webhookId,
      [`${headerPrefix}Timestamp`]: delivery.createdAt,
    },
  };
}

/** Changes the last character, and nothing else: still well-formed, and wrong. */
function corrupt(signature: string): string {
  return `${signature.slice(0, -1)}${signature.endsWith("0") ? "1" : "0"}`;
}

type Book = Pick<World, "state" | "random" | "stamp">;

/** Writes one attempt down: beside its delivery with all that was said, and in the service's own log (§2.9). */
export function bookAttempt(
  world: Book,
  delivery: DeliveryRecord,
  attempt: AttemptRecord,
  isSuccess: boolean,
): void {
  delivery.attempts.push(attempt);
  world.state.saveDelivery(delivery);
  world.state.addLog({
    id: world.random.guid(),
    business: delivery.business,
    eventType: delivery.event,
    externalContractId: delivery.contractId,
    contractId: delivery.internalContractId,
    httpStatusCode: attempt.httpStatus,
    isSuccess,
    attemptNumber: attempt.number,
    errorMessage: attempt.error,
    durationMs: attempt.durationMs,
    createdAt: attempt.at,
  });
}

export function toAttempt(
  request: SignedRequest,
  sent: Sent,
  rest: Pick<AttemptRecord, "number" | "at" | "durationMs" | "copy">,
): AttemptRecord {
  return {
    ...rest,
    url: request.url,
    headers: request.headers,
    httpStatus: sent.status,
    error: sent.error,
    responseBody: sent.responseBody,
  };
}

/** §6.5: failed *deliveries* in a row disable the subscription; one that arrives starts the count anew. */
export function countAttempt(world: World, subscriptionId: string, delivery: DeliveryRecord): void {
  const subscription = world.state.subscriptions.get(delivery.business);
  if (subscription?.id !== subscriptionId) return;
  if (delivery.state === "delivered") {
    subscription.consecutiveFailures = 0;
    subscription.lastSuccessAt = world.stamp();
  } else {
    subscription.lastFailureAt = world.stamp();
  }
  if (delivery.state === "failed") subscription.consecutiveFailures++;
  if (subscription.consecutiveFailures >= world.settings.disableAfter) subscription.isActive = false;
  world.state.saveSubscription(subscription);
}
