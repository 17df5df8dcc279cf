import type { EventFacts } from "../events/event.ts";
import type { SnapshotFacts } from "../events/snapshot.ts";
import type { Reason, Verdict } from "./outcome.ts";

/** What goes into one commit: deliveries, and API answers on their way into the same fold. */
export type Arrival = DeliveryArrival | SnapshotArrival;

/** A delivery whose signature holds. */
export interface DeliveryArrival {
  readonly kind: "delivery";
  /** Header, else payload id, else digest (semantics §4). */
  readonly webhookId: string;
  /** SHA-256 of the body, hex. */
  readonly digest: string;
  readonly body: Uint8Array;
  /** Without the signature. */
  readonly headers: Readonly<Record<string, string>>;
  readonly secretId: string;
  readonly fingerprint: string;
  readonly receivedAt: string;
  readonly reading: Reading;
}

/** What the body says, or why it is set aside; both, where it is readable and set aside all the same. */
export interface Reading {
  readonly facts: EventFacts | null;
  readonly reason: Reason | null;
}

export interface SnapshotArrival {
  readonly kind: "snapshot";
  readonly digest: string;
  readonly receivedAt: string;
  readonly facts: SnapshotFacts;
}

export function isDelivery(arrival: Arrival): arrival is DeliveryArrival {
  return arrival.kind === "delivery";
}

export function webhookIdOf(arrival: Arrival): string | undefined {
  return isDelivery(arrival) ? arrival.webhookId : undefined;
}

/** What became of an arrival, once it is committed. */
export interface Committed extends Verdict {
  readonly arrival: Arrival;
}
