/** The Fetch API's request and response, as `fetch` handlers and Hono have them. */
import type { ReceiveResult } from "../src/index.ts";
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
  getReader(): {
    read(): Promise<{ done: boolean; value?: Uint8Array | undefined }>;
    cancel(reason?: unknown): Promise<void>;
  };
}

/** Holds at most `bytesMax` and one chunk. */
export async function readWebBody(
  request: Pick<WebRequest, "body" | "bodyUsed">,
  bytesMax: number,
): Promise<RawBody | Gone> {
  if (request.bodyUsed) return undefined;
  if (request.body === null) return new Uint8Array();
  const reader = request.body.getReader();
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  try {
    while (bytes <= bytesMax) {
      const { done, value } = await reader.read();
      if (done || value === undefined) return Buffer.concat(chunks);
      chunks.push(value);
      bytes += value.byteLength;
    }
  } catch {
    return gone;
  }
  // Not awaited: some runtimes resolve it only once the sender has stopped.
  reader.cancel().catch(() => {});
  return Buffer.concat(chunks);
}

/** Where the sender is gone, the runtime wants a response all the same; nobody reads it. */
export function toResponse(result: ReceiveResult | Gone): Response {
  if (result === gone) return new Response(null, { status: 400 });
  return new Response(result.body, { status: result.status, headers: { ...result.headers } });
}
