/** The Fetch API's request and response, as `fetch` handlers and Hono have them. */
import type { ReceiveResult } from "../src/index.ts";
import { lingerMs } from "./node-stream.ts";
import { gone, type Gone, type RawBody } from "./protocol.ts";

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
  getReader(): WebReader;
}

export interface WebReader {
  read(): Promise<{ done: boolean; value?: Uint8Array | undefined }>;
  cancel(): Promise<void>;
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

async function readChunks(reader: WebReader, bytesMax: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  while (bytes <= bytesMax) {
    const { done, value } = await reader.read();
    if (done || value === undefined) return Buffer.concat(chunks);
    chunks.push(value);
    bytes += value.byteLength;
  }
  await discardWeb(reader);
  return Buffer.concat(chunks);
}

/** As `discard` of node-stream.ts, but before the answer: what comes after it is the runtime's. */
async function discardWeb(reader: WebReader): Promise<void> {
  const deadline = performance.now() + lingerMs;
  const stop = setTimeout(() => void cancel(reader), lingerMs);
  while (performance.now() < deadline && !(await reader.read()).done);
  clearTimeout(stop);
  await cancel(reader);
}

async function cancel(reader: WebReader): Promise<void> {
  await reader.cancel().catch(() => {});
}

/** Where the sender is gone, the runtime wants a response all the same; nobody reads it. */
export function toResponse(result: ReceiveResult | Gone): Response {
  if (result === gone) return new Response(null, { status: 400 });
  return new Response(result.body, { status: result.status, headers: { ...result.headers } });
}
