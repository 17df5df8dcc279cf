/** Bytes that a parser in front of the route has kept. */
import { isUint8Array } from "node:util/types";

/** The places where frameworks keep a body that was read before. */
export interface KeptBody {
  /**
   * The bytes as `express.json({ verify })`, Nest's `rawBody: true`, fastify-raw-body and cloud functions keep them.
   */
  readonly rawBody?: unknown;
  /** A `Buffer` of `express.raw()`, or the text of `express.text()`. The value of a JSON parser can't be used. */
  readonly body?: unknown;
}

/** @param length the header `Content-Length` */
export function keptBody(
  { rawBody, body }: KeptBody,
  length: string | undefined,
): Uint8Array | string | undefined {
  return [rawBody, body].filter(isBody).find((each) => mayBeWhole(each, length));
}

function isBody(value: unknown): value is Uint8Array | string {
  return typeof value === "string" || isUint8Array(value);
}

/** Nothing kept of a body of unknown length is more likely a hook that did not run than a body that was empty. */
function mayBeWhole(kept: Uint8Array | string, length: string | undefined): boolean {
  return length === undefined ? kept.length > 0 : Buffer.byteLength(kept) === Number(length);
}
