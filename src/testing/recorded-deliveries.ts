import type { Delivery } from "./delivery.ts";
import { recordings } from "./recordings.ts";

/** A recorded delivery, byte for byte. */
export interface RecordedDelivery extends Delivery {
  /** A short name. */
  readonly name: string;
  /** Its special property. */
  readonly about: string;
  readonly body: Uint8Array<ArrayBuffer>;
}

/**
 * Real deliveries, byte for byte, signed with `testSecret`: the service's samples, and bodies that are hard to read
 * (`600.00`, escaped characters, a byte that is not UTF-8, a repeated key, an empty body). All are authentic: a receiver must
 * answer each with 2xx.
 */
export const recordedDeliveries: readonly RecordedDelivery[] = recordings.map(
  ({ name, about, bodyBase64, event, signature }) => ({
    name,
    about,
    method: "POST",
    headers: {
      "Content-Type": "application/json",
      "X-Service-Webhook-Id": `wh-${name}`,
      "X-Service-Event": event,
      "X-Service-Timestamp": "2026-04-14T14:30:00.1234567Z",
      "X-Service-Signature": signature,
    },
    body: new Uint8Array(Buffer.from(bodyBase64, "base64")),
  }),
);
