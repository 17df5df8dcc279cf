import type { EventFacts, EventMetadata, KnownEventType } from "../events/event.ts";
import { isKnownEventType } from "../events/event.ts";

/** Every event type that this release knows. */
export type WebhookEventType = KnownEventType;

/** One webhook event, as handlers get it. `known` says whether this release knows its type. */
export type WebhookEvent = KnownEvent | UnknownEvent;

/** An event of a type that this release knows. */
export interface KnownEvent<Type extends KnownEventType = KnownEventType> extends EventFields {
  /** Always `true`. It distinguishes this type from `UnknownEvent`. */
  readonly known: true;
  /** The event's type. */
  readonly event: Type;
}

/** An event of a type that this release does not know. The service may add types. */
export interface UnknownEvent extends EventFields {
  /** Always `false`. It distinguishes this type from `KnownEvent`. */
  readonly known: false;
  /** The event's type as sent. */
  readonly event: string;
}

/** The fields that every event has. */
export interface EventFields {
  /** The delivery's id: `X-Service-Webhook-Id`, else the payload's `id`. */
  readonly webhookId: string;
  /** The payload's own `id`. */
  readonly payloadId: string | null;
  /** The contract's external id. Empty for a `webhook.test` that names none. */
  readonly contractId: string;
  /** The milestone's id, as text; `null` if the event is about the whole contract. */
  readonly milestoneId: string | null;
  /** The payment's id for payment events, the refund's id for refund events. */
  readonly transactionId: string | null;
  /** The payment's id. */
  readonly paymentId: string | null;
  /** The dispute's id. */
  readonly disputeId: string | null;
  /** The invoice's id. */
  readonly invoiceId: string | null;
  /** The reference that the contract was created with. */
  readonly reference: string | null;
  /** The status as sent. */
  readonly status: string | null;
  /** The status before, as sent. */
  readonly previousStatus: string | null;
  /** Halalas, exact. `null` if absent or unreadable. */
  readonly amountMinor: number | null;
  /** The currency's code: `SAR`. */
  readonly currency: string;
  /** When it happened: ISO 8601 with `Z`, the fraction as given. `null` if no time can be read. */
  readonly occurredAt: string | null;
  /** The app's own texts. */
  readonly metadata: EventMetadata;
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
