/** The Fetch API's request and response, as `fetch` handlers and Hono have them. */
import type { ReceiveRequest, ReceiveResult, WebBodyStream } from "../../src/index.ts";
import { createLinger } from "./linger.ts";
import { nextTurn } from "./timers.ts";

/** The parts of a `Request` that the handler uses. The `Request` of every runtime fits this type. */
export interface WebRequest {
  /** The HTTP method. */
  readonly method: string;
  /** The headers. */
  readonly headers: WebHeaders;
  /** The body as a stream; `null` if there is none. */
  readonly body: WebBodyStream | null;
  /** Whether something has read the body before. */
  readonly bodyUsed: boolean;
}

/** The parts of `Headers` that the handler uses. */
export interface WebHeaders extends Iterable<[string, string]> {
  /** Returns a header's value, or `null`. Names in any case. */
  get(name: string): string | null;
}

export function webBody(request: Pick<WebRequest, "body" | "bodyUsed">): ReceiveRequest["body"] {
  return request.bodyUsed ? undefined : (request.body ?? new Uint8Array());
}

/**
 * As `discard` of node-stream.ts, where the answer ends the connection. The rest is left, not cancelled: on Node that
 * would end the connection before the answer is out.
 */
export async function discardWeb({ body }: Pick<WebRequest, "body">): Promise<void> {
  if (body === null || body.locked) return;
  const linger = createLinger();
  const reader = body.getReader();
  const over = linger.over.then(() => ({ done: true }));
  // A stream in memory always has more at once: no timer would ever run, and the first of two that are ready wins.
  const next = (): Promise<{ done: boolean }> => Promise.race([over, reader.read()]);
  const isMore = async (): Promise<boolean> => !(await next().catch(() => ({ done: true }))).done;
  while (await isMore()) {
    linger.more();
    await nextTurn();
  }
  linger.end();
  reader.releaseLock();
}

/** @param unread kept when what still comes of the request is thrown away, where the answer ends the connection */
export function toResponse(result: ReceiveResult, unread?: Promise<void>): Response {
  const { status, body } = result;
  // Without a length, the answer to a HEAD would end the connection.
  const headers = { ...result.headers, "content-length": String(Buffer.byteLength(body)) };
  return new Response(unread === undefined ? body : endingAfter(unread, body), { status, headers });
}

/** All of the text goes out at once; the end, with which the runtime closes the connection, waits. */
function endingAfter(unread: Promise<void>, body: string): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start: (controller) => controller.enqueue(Buffer.from(body)),
    pull: async (controller) => {
      await unread;
      controller.close();
    },
  });
}
