import { ok } from "../../shared/result.ts";
import { refuse, refuseFields } from "../wire/answer.ts";
import type { Outcome } from "../wire/answer.ts";
import { emitTest } from "./events.ts";
import { Fields, isHttpUrl } from "../wire/fields.ts";
import type { Json } from "../wire/json.ts";
import type { LogRecord, SubscriptionRecord } from "../world/records.ts";
import { readLogEntry } from "./views.ts";
import type { World } from "../world/world.ts";

/** §8. */
const pageSizeDefault = 20;
const pageSizeMax = 100;

/** §4.7 and supplement: creates or updates; resets the count of failures and re-enables. */
export function putSubscription(
  world: World,
  business: string,
  body: unknown,
): Outcome<{ subscription: SubscriptionRecord; created: boolean }> {
  const fields = new Fields(body);
  const webhookUrl = fields.text("webhookUrl");
  if (webhookUrl !== "" && !isHttpUrl(webhookUrl)) {
    fields.fail("webhookUrl", "must be an absolute http or https URL without user name and password.");
  }
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
    secretKey: first ? world.identity.webhookSecret : newSecret(world),
    isActive: true,
    consecutiveFailures: 0,
    lastSuccessAt: null,
    lastFailureAt: null,
    createdAt: world.stamp(),
  };
}

export function newSecret(world: Pick<World, "random">): string {
  return `whsec_${world.random.hex(24)}`;
}

export function findSubscription(world: World, business: string): Outcome<SubscriptionRecord> {
  const subscription = world.state.subscriptions.get(business);
  if (subscription !== undefined) return ok(subscription);
  return refuse(404, "WebhookNotFound", "There is no webhook yet: POST /apps/api/webhooks creates one.");
}

export function deleteSubscription(world: World, business: string): Outcome<true> {
  const found = findSubscription(world, business);
  if (!found.ok) return found;
  world.state.removeSubscription(business);
  return ok(true);
}

/** The old secret stops at once: what is still to be retried is signed with the new one (supplement). */
export function regenerateSecret(world: World, business: string): Outcome<Json> {
  const found = findSubscription(world, business);
  if (!found.ok) return found;
  found.value.secretKey = newSecret(world);
  world.state.saveSubscription(found.value);
  if (business === world.settings.clientId) {
    world.state.saveIdentity({ ...world.identity, webhookSecret: found.value.secretKey });
  }
  return ok({ secretKey: found.value.secretKey });
}

/** §4.5 */
export function sendTest(world: World, business: string): Outcome<Json> {
  const found = findSubscription(world, business);
  if (!found.ok) return found;
  if (!found.value.isActive) {
    return refuse(400, "WebhookDisabled", "The webhook is disabled: POST /apps/api/webhooks re-enables it.");
  }
  return ok({ webhookId: emitTest(world, business), message: "Test webhook is queued for delivery." });
}

/** §4.6: newest first. */
export function readLogs(world: World, business: string, query: URLSearchParams): Outcome<Json> {
  const page = readCount(query, "page", 1);
  const asked = readCount(query, "pageSize", pageSizeDefault);
  const pageSize = world.settings.pageSizeAboveMax === "clamp" ? Math.min(asked, pageSizeMax) : asked;
  const errors = [];
  if (!(page >= 1)) errors.push({ field: "page", message: "page must be an integer from 1." });
  if (!(pageSize >= 1 && pageSize <= pageSizeMax)) {
    errors.push({ field: "pageSize", message: `pageSize must be an integer from 1 to ${pageSizeMax}.` });
  }
  if (errors.length > 0) return refuseFields(...errors);
  const all = logOf(world, business);
  const end = Math.max(0, all.length - (page - 1) * pageSize);
  const logs = all.slice(Math.max(0, end - pageSize), end).reverse();
  return ok({ logs: logs.map(readLogEntry), totalCount: all.length, page, pageSize });
}

function logOf(world: World, business: string): LogRecord[] {
  if (world.settings.clients.length === 0) return world.state.log;
  return world.state.log.filter((entry) => entry.business === business);
}

function readCount(query: URLSearchParams, name: string, byDefault: number): number {
  const text = query.get(name);
  if (text === null) return byDefault;
  return /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
}
