import { err, ok } from "../../shared/result.ts";
import type { Result } from "../../shared/result.ts";
import type { FetchResponse } from "./fetch.ts";

/** A longer answer is not read to its end: a contract with a thousand milestones is far below. */
export const answerBytesMax = 8 * 1_048_576;

/**
 * The body as text. Reading stops at the limit, however much is promised or sent, and after inflating. Rejects where the
 * connection breaks.
 */
export async function readAnswerBody(response: FetchResponse): Promise<Result<string, "too-large">> {
  const body = response.body as AsyncIterable<Uint8Array> | null | undefined;
  if (body === null || body === undefined) return ok("");
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  // Leaving the loop cancels the body, and with it the connection.
  for await (const chunk of body) {
    bytes += chunk.byteLength;
    if (bytes > answerBytesMax) return err("too-large");
    text += decoder.decode(chunk, { stream: true });
  }
  return ok(text + decoder.decode());
}
