import type { DeliveryRecord } from "../world/records.ts";
import type { Ground } from "../world/world.ts";
import { meaningOf } from "./attempts.ts";
import type { Sent } from "./send.ts";

/**
 * Acts on an attempt's answer (§6.5): the delivery has arrived or failed, or a retry is due. Returns the wait for that
 * retry in milliseconds, or null.
 */
export function concludeAttempt(
  ground: Ground,
  delivery: DeliveryRecord,
  subscriptionId: string,
  sent: Sent,
): number | null {
  const waitMs = settle(ground, delivery, sent);
  countAttempt(ground, subscriptionId, delivery);
  return waitMs;
}

function settle(ground: Ground, delivery: DeliveryRecord, sent: Sent): number | null {
  const waitMs = ground.settings.retryDelaysMs[delivery.tries - 1];
  const meaning = meaningOf(sent, ground.settings);
  if (meaning === "delivered") finish(ground, delivery, "delivered", null);
  else if (meaning === "permanent")
    finish(ground, delivery, "failed", `${sent.error ?? ""}. The service does not retry this status.`);
  else if (waitMs === undefined) finish(ground, delivery, "failed", `${delivery.tries} attempts failed.`);
  else return waitMs;
  return null;
}

/** Ends a delivery. */
export function finish(
  { state }: Ground,
  delivery: DeliveryRecord,
  end: "delivered" | "failed",
  reason: string | null,
): void {
  Object.assign(delivery, { state: end, reason, nextAttemptAtMs: null });
  state.saveDelivery(delivery);
}

/** §6.5: failed *deliveries* in a row disable the subscription; one that arrives starts the count anew. */
function countAttempt(ground: Ground, subscriptionId: string, delivery: DeliveryRecord): void {
  const subscription = ground.state.subscriptions.get(delivery.business);
  // The one of this attempt may be deleted by now, and another in its place.
  if (subscription?.id !== subscriptionId) return;
  if (delivery.state === "delivered") {
    subscription.consecutiveFailures = 0;
    subscription.lastSuccessAt = ground.stamp();
  } else {
    subscription.lastFailureAt = ground.stamp();
  }
  if (delivery.state === "failed") subscription.consecutiveFailures++;
  if (subscription.consecutiveFailures >= ground.settings.disableAfter) subscription.isActive = false;
  ground.state.saveSubscription(subscription);
}
