/** The step *parse*: makes an arrival of a verified request. A body that can't be read is set aside, never refused. */
import { hash } from "node:crypto";
import { idLengthMax, isBlank } from "../shared/ids.ts";
import { inflateBody } from "../events/inflate.ts";
import { parseEvent } from "../events/parse.ts";
import type { Verified } from "../signature/verify.ts";
import type { DeliveryArrival, ReadBody } from "./arrival.ts";
import { contentKeyOf } from "./deliveries/content-key.ts";
import { digestIdOf, isDigestId } from "./deliveries/delivery-row.ts";
import type { WholeRequest, RequestHeaders } from "./request.ts";

export interface ParseOptions {
  readonly maxBodyBytes: number;
  /** In lower case. */
  readonly idHeader: string;
  /** The names of the headers that are stored, in lower case (`kept-headers.ts`). */
  readonly keptHeaders: ReadonlySet<string>;
}

export function parseDelivery(
  request: WholeRequest,
  verified: Verified,
  receivedAt: string,
  options: ParseOptions,
): DeliveryArrival {
  const digest = sha256(request.body);
  const reading = read(request, verified, options);
  return {
    kind: "delivery",
    webhookId: headerId(request.headers, options) ?? payloadIdOf(reading) ?? digestIdOf(digest),
    digest,
    contentKey: contentKeyOf(request.body, digest),
    body: request.body,
    headers: storedHeaders(request.headers, options),
    secretId: verified.secretId,
    fingerprint: verified.fingerprint,
    receivedAt,
    reading,
  };
}

/** The payload id. A prefix is added if it looks like a row id of our own. */
function payloadIdOf({ facts }: ReadBody): string | undefined {
  const id = facts?.payloadId ?? undefined;
  return id !== undefined && isDigestId(id) ? `id:${id}` : id;
}

function read(request: WholeRequest, verified: Verified, { maxBodyBytes }: ParseOptions): ReadBody {
  const encoding = request.headers.get("content-encoding")?.join();
  const body = inflateBody(request.body, encoding, maxBodyBytes);
  if (!body.ok) return { facts: null, reason: body.error.reason };
  const event = parseEvent(body.value);
  if (!event.ok) return { facts: null, reason: event.error.reason };
  return { facts: event.value.facts, reason: verified.outsideTolerance ? "outside-tolerance" : null };
}

/**
 * The id that the service gave this delivery. The header is unsigned: one that is repeated, too long or has control
 * characters is ignored, and so is one in the form of our own row ids. Proxies and the Fetch API join repeated
 * headers with ", ", so an id with that in it counts as repeated: every host gives one delivery the same id.
 */
function headerId(headers: RequestHeaders, { idHeader }: ParseOptions): string | undefined {
  const values = headers.get(idHeader);
  const [id] = values ?? [];
  if (id === undefined || values?.length !== 1 || id.length > idLengthMax) return undefined;
  if (isBlank(id) || id.includes(", ") || isDigestId(id) || /\p{Cc}/u.test(id)) return undefined;
  return id;
}

function storedHeaders(headers: RequestHeaders, { keptHeaders }: ParseOptions): Record<string, string> {
  const stored: Record<string, string> = {};
  for (const name of keptHeaders) {
    const values = headers.get(name);
    if (values !== undefined) stored[name] = values.join(", ");
  }
  return stored;
}

/** The one-shot form makes no hash object. */
function sha256(body: Uint8Array): string {
  return hash("sha256", body, "hex");
}
