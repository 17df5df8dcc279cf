/** Bytes that a parser in front of the route has kept, and whether they are still the bytes that were sent. */
import { isUint8Array } from "node:util/types";
import type { RawBody } from "./protocol.ts";

export interface KeptBody {
  /** Where `express.json({ verify })`, Nest's `rawBody: true`, fastify-raw-body and cloud functions keep the bytes. */
  readonly rawBody?: unknown;
  /** A `Buffer` of `express.raw()`, a text of `express.text()`; whatever a JSON parser made is of no use. */
  readonly body?: unknown;
}

/** @param contentLength the request's header, where it has one */
export function keptBytes({ rawBody, body }: KeptBody, contentLength: string | undefined): RawBody {
  const kept = isBytes(rawBody) ? rawBody : body;
  if (isBytes(kept) && isWhole(kept, contentLength)) return kept;
  // A parser may turn an empty body into {} or undefined: nothing was sent, so nothing is lost.
  return contentLength === "0" ? new Uint8Array() : undefined;
}

function isBytes(value: unknown): value is Uint8Array | string {
  return typeof value === "string" || isUint8Array(value);
}

/**
 * Parsers inflate a compressed body, and text parsers replace what is not UTF-8 and drop a byte order mark: a genuine
 * delivery would then look forged and be answered 401, for good. Its length gives the change away.
 */
function isWhole(kept: Uint8Array | string, contentLength: string | undefined): boolean {
  // Nothing kept of a body of unknown length is more likely a hook that did not run than a body that was empty.
  if (contentLength === undefined) return kept.length > 0;
  return Buffer.byteLength(kept) === Number(contentLength);
}
