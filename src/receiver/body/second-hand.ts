/**
 * If other code read the body before us, it may have changed it: inflated, decoded, serialised again. Then a genuine delivery
 * looks forged, or too large, and would be refused for ever. So such a refusal becomes a 500, which the service retries.
 */
import { failed, type Verdict } from "../outcome.ts";
import type { BodyRead } from "./read-body.ts";
import { lengthOf, type ReceiveRequest, type WholeRequest, type RequestHeaders } from "../request.ts";

/** The refusal of a body. If the body is in doubt, an answer that the service retries. */
export function retryIfDoubtful(
  verdict: Verdict,
  raw: ReceiveRequest,
  request: WholeRequest,
  read: BodyRead,
): Verdict {
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
  // Only a decoder makes a stream of text. A gateway may pass bytes as one whole text.
  if (!isSecondHand && (!isText || typeof source === "string")) return false;
  // With the length as sent, it would have been refused before it was read.
  if (reason === "body-too-large") return lengthOf(headers) !== undefined || !isPlain(headers);
  if (reason !== "signature-mismatch" && reason !== "secret-unproven") return false;
  return isText || !isAsSent(headers, body);
}

/**
 * Bytes of the length that was sent are as sent, with two exceptions. Inflated bytes may have that length too. And if a decoder
 * meets three bytes that are not UTF-8, it may replace them by U+FFFD, which has three bytes.
 */
function isAsSent(headers: RequestHeaders, body: Uint8Array): boolean {
  if (!isPlain(headers) || body.byteLength !== lengthOf(headers)) return false;
  return !Buffer.from(body.buffer, body.byteOffset, body.byteLength).includes("\ufffd");
}

function isPlain(headers: RequestHeaders): boolean {
  const encodings = headers.get("content-encoding") ?? ["identity"];
  return encodings.join().trim().toLowerCase() === "identity";
}
