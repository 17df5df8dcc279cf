import type { EventFacts, EventFields, KnownEventType } from "../events/event.ts";
import { isKnownEventType } from "../events/event.ts";

/** Every event type that this release knows. */
export type WebhookEventType = KnownEventType;

/** One webhook event, as handlers get it. `known` says whether this release knows its type. */
export type WebhookEvent = KnownEvent | UnknownEvent;

/** An event of a type that this release knows. */
export interface KnownEvent<Type extends KnownEventType = KnownEventType> extends DeliveredEvent {
  /** Always `true`. It distinguishes this type from `UnknownEvent`. */
  readonly known: true;
  /** The event's type. */
  readonly event: Type;
}

/** An event of a type that this release does not know. The service may add types. */
export interface UnknownEvent extends DeliveredEvent {
  /** Always `false`. It distinguishes this type from `KnownEvent`. */
  readonly known: false;
  /** The event's type as sent. */
  readonly event: string;
}

/** An event, and its delivery. */
interface DeliveredEvent extends EventFields {
  /** The delivery's id: `X-Service-Webhook-Id`, else the payload's `id`. */
  readonly webhookId: string;
  /**
   * The whole payload as JSON, for fields that are not here. `null` once it is pruned. Its numbers are plain floats.
   */
  readonly raw: unknown;
}

/** @param readRaw called when a handler first asks for the raw payload: most do not */
export function toWebhookEvent(facts: EventFacts, webhookId: string, readRaw: () => unknown): WebhookEvent {
  const { event, flags: _, orderKey: __, ...fields } = facts;
  let raw: unknown;
  const whole = { known: isKnownEventType(event), event, ...fields, webhookId };
  const get = (): unknown => (raw === undefined ? (raw = readRaw()) : raw);
  return Object.defineProperty(whole, "raw", { enumerable: true, get }) as WebhookEvent;
}
