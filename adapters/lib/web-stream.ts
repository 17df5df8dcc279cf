/** The Fetch API's request and response, as `fetch` handlers and Hono have them. */
import type { ReceiveResult } from "../../src/index.ts";
import { createBodyChunks } from "./body-chunks.ts";
import { createLinger } from "./linger.ts";
import { nextTurn } from "./timers.ts";
import { gone, type Doubtful, type Gone, type RawBody } from "./protocol.ts";

/** What is needed of a `Request`, spelled out so that every runtime's own type fits. */
export interface WebRequest {
  readonly method: string;
  readonly headers: WebHeaders;
  readonly body: WebStream | null;
  readonly bodyUsed: boolean;
}

export interface WebHeaders extends Iterable<[string, string]> {
  get(name: string): string | null;
}

export interface WebStream {
  readonly locked: boolean;
  getReader(): WebReader;
}

export interface WebReader {
  read(): Promise<{ done: boolean; value?: Uint8Array | undefined }>;
  releaseLock(): void;
}

/** Holds at most `bytesMax` and one chunk. */
export async function readWebBody(
  request: Pick<WebRequest, "body" | "bodyUsed">,
  bytesMax: number,
): Promise<RawBody | Gone> {
  if (request.bodyUsed) return undefined;
  if (request.body === null) return new Uint8Array();
  const reader = request.body.getReader();
  try {
    return await readChunks(reader, bytesMax);
  } catch {
    return gone;
  }
}

async function readChunks(reader: WebReader, bytesMax: number): Promise<Uint8Array | Doubtful> {
  const chunks = createBodyChunks(bytesMax);
  while (!chunks.isOver()) {
    const { done, value } = await reader.read();
    if (done || value === undefined) break;
    chunks.add(value);
    // Empty pieces never reach the limit: if they have no end, the process goes on all the same.
    if (value.byteLength === 0) await nextTurn();
  }
  reader.releaseLock();
  return chunks.body();
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

/**
 * Where the body broke off, the runtime wants a response all the same: of a sender that is still there, who comes again.
 *
 * @param unread kept when what still comes of the request is thrown away, where the answer ends the connection
 */
export function toResponse(result: ReceiveResult | Gone, unread?: Promise<void>): Response {
  if (result === gone) return new Response(null, { status: 503, headers: { "retry-after": "5" } });
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
