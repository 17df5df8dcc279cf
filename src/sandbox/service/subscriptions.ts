import { ok } from "../../shared/result.ts";
import { refuse, refuseFields } from "../wire/refusal.ts";
import type { Granted } from "../wire/refusal.ts";
import { emitTest } from "./events.ts";
import { Fields } from "../wire/fields.ts";
import type { SubscriptionRecord } from "../world/records.ts";
import type { Ground, World } from "../world/world.ts";

/** §4.7 and supplement: creates or updates; resets the count of failures and re-enables. */
export function putSubscription(
  world: World,
  business: string,
  body: unknown,
): Granted<{ subscription: SubscriptionRecord; created: boolean }> {
  const fields = new Fields(body);
  const webhookUrl = fields.url("webhookUrl");
  if (fields.errors.length > 0) return refuseFields(...fields.errors);
  const existing = world.state.subscriptions.get(business);
  const subscription = existing ?? newSubscription(world, business);
  Object.assign(subscription, { webhookUrl, isActive: true, consecutiveFailures: 0 });
  world.state.saveSubscription(subscription);
  return ok({ subscription, created: existing === undefined });
}

function newSubscription(world: World, business: string): SubscriptionRecord {
  const first = business === world.settings.clientId;
  return {
    id: world.random.guid(),
    business,
    webhookUrl: "",
    secretKey: first ? world.state.identity.webhookSecret : newSecret(world),
    isActive: true,
    consecutiveFailures: 0,
    lastSuccessAt: null,
    lastFailureAt: null,
    createdAt: world.stamp(),
  };
}

export function newSecret(world: Pick<Ground, "random">): string {
  return `whsec_${world.random.hex(24)}`;
}

export function findSubscription(world: World, business: string): Granted<SubscriptionRecord> {
  const subscription = world.state.subscriptions.get(business);
  if (subscription !== undefined) return ok(subscription);
  return refuse(404, "WebhookNotFound", "There is no webhook yet: POST /apps/api/webhooks creates one.");
}

export function deleteSubscription(world: World, business: string): Granted<true> {
  const found = findSubscription(world, business);
  if (!found.ok) return found;
  world.state.removeSubscription(business);
  return ok(true);
}

/** The old secret stops at once: what is still to be retried is signed with the new one (supplement). */
export function regenerateSecret(world: World, business: string): Granted<{ secretKey: string }> {
  const found = findSubscription(world, business);
  if (!found.ok) return found;
  found.value.secretKey = newSecret(world);
  world.state.saveSubscription(found.value);
  if (business === world.settings.clientId) {
    world.state.saveIdentity({ ...world.state.identity, webhookSecret: found.value.secretKey });
  }
  return ok({ secretKey: found.value.secretKey });
}

/** §4.5 */
export function sendTest(world: World, business: string): Granted<{ webhookId: string; message: string }> {
  const found = findSubscription(world, business);
  if (!found.ok) return found;
  if (!found.value.isActive) {
    return refuse(400, "WebhookDisabled", "The webhook is disabled: POST /apps/api/webhooks re-enables it.");
  }
  return ok({ webhookId: emitTest(world, business), message: "Test webhook is queued for delivery." });
}
