/** Bytes that a parser in front of the route has kept, and whether they are still the bytes that were sent. */
import { isUint8Array } from "node:util/types";
import type { Doubtful, RawBody } from "./protocol.ts";

export interface KeptBody {
  /** Where `express.json({ verify })`, Nest's `rawBody: true`, fastify-raw-body and cloud functions keep the bytes. */
  readonly rawBody?: unknown;
  /** A `Buffer` of `express.raw()`, a text of `express.text()`; whatever a JSON parser made is of no use. */
  readonly body?: unknown;
}

/** What the request's headers say of the body as sent. */
export interface SentAs {
  readonly length: string | undefined;
  readonly encoding: string | undefined;
}

/** Copied before the caller goes on, who may use his buffer for the next request; of what is too long, enough to tell. */
export function keptBody({ rawBody, body }: KeptBody, sent: SentAs, bytesMax: number): RawBody {
  const kept = [rawBody, body].filter(isBody).find((each) => mayBeWhole(each, sent));
  if (typeof kept === "string") return { doubtful: kept };
  if (kept !== undefined) return doubted(kept, sent, Buffer.from(kept.subarray(0, bytesMax + 1)));
  // A parser may turn an empty body into {} or undefined: nothing was sent, so nothing is lost.
  return sent.length === "0" ? new Uint8Array() : undefined;
}

function isBody(value: unknown): value is Uint8Array | string {
  return typeof value === "string" || isUint8Array(value);
}

/** Nothing kept of a body of unknown length is more likely a hook that did not run than a body that was empty. */
function mayBeWhole(kept: Uint8Array | string, { length }: SentAs): boolean {
  return length === undefined ? kept.length > 0 : Buffer.byteLength(kept) === Number(length);
}

/**
 * Parsers inflate a compressed body, replace what is not UTF-8 and drop a byte order mark. Bytes of the length that was
 * sent are beyond doubt, but for two: inflated ones may have that length too, and so may a character cut after three
 * bytes, which becomes one of three. Text is always in doubt: it was decoded, or even serialised anew.
 *
 * @param copy what to hand on of `bytes`
 */
export function doubted(bytes: Uint8Array, sent: SentAs, copy = bytes): Uint8Array | Doubtful {
  const isAsSent = isPlain(sent) && bytes.byteLength === Number(sent.length);
  return isAsSent && !Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).includes("\ufffd")
    ? copy
    : { doubtful: copy };
}

function isPlain({ encoding = "identity" }: SentAs): boolean {
  return encoding.trim().toLowerCase() === "identity";
}
