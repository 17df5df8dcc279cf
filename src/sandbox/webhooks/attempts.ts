import { Buffer } from "node:buffer";

import { monotonicMs } from "../../shared/timers.ts";
import type { AttemptRecord, DeliveryRecord, SubscriptionRecord } from "../world/records.ts";
import type { Settings } from "../world/settings.ts";
import type { Ground } from "../world/world.ts";
import type { Sent, SignedRequest } from "./send.ts";

/** An attempt that has begun: what is sent, and how long that takes. */
export interface Attempt {
  readonly request: SignedRequest;
  readonly number: number;
  readonly at: string;
  /** A copy that the `duplicate` fault sends. */
  readonly copy: boolean;
  durationMs(): number;
}

export function beginAttempt(
  ground: Ground,
  delivery: DeliveryRecord,
  subscription: SubscriptionRecord,
  copy: boolean,
): Attempt {
  if (copy) ground.faults.count("duplicate");
  else delivery.tries++;
  const now = ground.clock.kind === "manual" ? () => ground.clock.now() : monotonicMs;
  const startMs = now();
  return {
    number: Math.max(1, delivery.tries),
    at: ground.stamp(),
    copy,
    request: signRequest(ground, delivery, subscription),
    durationMs: () => Math.round(now() - startMs),
  };
}

/** §6.2. The body becomes bytes here, once; these are signed and these are sent. */
function signRequest(
  { settings, faults }: Ground,
  delivery: DeliveryRecord,
  subscription: SubscriptionRecord,
): SignedRequest {
  const { headerPrefix, sign } = settings;
  const body = Buffer.from(delivery.body, "utf8");
  const signature = sign(body, subscription.secretKey);
  return {
    url: subscription.webhookUrl,
    body,
    headers: {
      "Content-Type": "application/json",
      [`${headerPrefix}Signature`]: faults.corruptsSignature() ? corrupt(signature) : signature,
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

/** The meaning of an attempt's answer (§6.5). */
export type Meaning = "delivered" | "retry" | "permanent";

const retryable = new Set([408, 429, 500, 502, 503, 504]);
const permanent = new Set([400, 401, 403, 404]);

/**
 * §6.5 names some statuses retryable and some permanent, and says that any that is not 2xx is retried: so a status
 * in neither list (a redirect, 418) is, unless `otherStatuses` says otherwise. No answer is retried.
 */
export function meaningOf({ status }: Sent, { otherStatuses }: Settings): Meaning {
  if (status === null || retryable.has(status)) return "retry";
  if (status >= 200 && status < 300) return "delivered";
  return permanent.has(status) || otherStatuses === "fail" ? "permanent" : "retry";
}

/** Writes one attempt down: beside its delivery with all that was said, and in the service's own log (§2.9). */
export function bookAttempt(ground: Ground, delivery: DeliveryRecord, attempt: Attempt, sent: Sent): void {
  const { request, number, at, copy } = attempt;
  const booked: AttemptRecord = {
    number,
    at,
    copy,
    durationMs: attempt.durationMs(),
    url: request.url,
    headers: request.headers,
    httpStatus: sent.status,
    error: sent.error,
    responseBody: sent.responseBody,
  };
  delivery.attempts.push(booked);
  ground.state.saveDelivery(delivery);
  logAttempt(ground, delivery, booked, meaningOf(sent, ground.settings) === "delivered");
}

function logAttempt(
  { state, random }: Ground,
  delivery: DeliveryRecord,
  attempt: AttemptRecord,
  isSuccess: boolean,
): void {
  state.addLog({
    id: random.guid(),
    business: delivery.business,
    eventType: delivery.event,
    externalContractId: delivery.contractId ?? "",
    contractId: delivery.internalContractId ?? 0,
    httpStatusCode: attempt.httpStatus,
    isSuccess,
    attemptNumber: attempt.number,
    errorMessage: attempt.error,
    durationMs: attempt.durationMs,
    createdAt: attempt.at,
  });
}
