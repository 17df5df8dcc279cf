/**
 * A body that something else had in its hands before us may have been changed: inflated, decoded, printed anew. A genuine
 * delivery then looks forged, or too large, and would be refused for good. So such a refusal says that the bytes are gone,
 * which the service retries.
 */
import { failed, type Verdict } from "../outcome.ts";
import type { BodyRead } from "./read-body.ts";
import { lengthOf, type ReceiveRequest, type WholeRequest, type RequestHeaders } from "../request.ts";

/** The refusal of a body, unless it is in doubt. */
export function doubt(verdict: Verdict, raw: ReceiveRequest, request: WholeRequest, read: BodyRead): Verdict {
  return isDoubtful(verdict, raw, request, read)
    ? { ...failed("raw-body-unavailable"), closes: verdict.closes }
    : verdict;
}

function isDoubtful(
  { reason }: Verdict,
  { isSecondHand = false, body: source }: ReceiveRequest,
  { headers, body }: WholeRequest,
  { isText }: BodyRead,
): boolean {
  // Only a decoder makes a stream of text; a whole text may be how a gateway hands bytes over.
  if (!isSecondHand && (!isText || typeof source === "string")) return false;
  // By its length as sent it would have been refused before it was read.
  if (reason === "body-too-large") return lengthOf(headers) !== undefined || !isPlain(headers);
  if (reason !== "signature-mismatch" && reason !== "secret-unproven") return false;
  return isText || !isAsSent(headers, body);
}

/**
 * Bytes of the length that was sent are beyond doubt, but for two: inflated ones may have that length too, and so may a
 * character cut after three bytes, which becomes the one of three that stands for what is not UTF-8.
 */
function isAsSent(headers: RequestHeaders, body: Uint8Array): boolean {
  if (!isPlain(headers) || body.byteLength !== lengthOf(headers)) return false;
  return !Buffer.from(body.buffer, body.byteOffset, body.byteLength).includes("\ufffd");
}

function isPlain(headers: RequestHeaders): boolean {
  const encodings = headers.get("content-encoding") ?? ["identity"];
  return encodings.join().trim().toLowerCase() === "identity";
}
