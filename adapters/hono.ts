import { keptBody, type SentAs } from "./lib/kept-body.ts";
import { discard, headersFor, readStream, type NodeRequest } from "./lib/node-stream.ts";
import { closes, createAnswer, gone, type Gone, type MirrorSource, type RawBody } from "./lib/protocol.ts";
import { discardWeb, readWebBody, toResponse, type WebRequest } from "./lib/web-stream.ts";

export type { MirrorSource };
export type { WebHeaders, WebRequest, WebStream } from "./lib/web-stream.ts";
export type { WebhookReceiver } from "./lib/protocol.ts";

/** What is needed of Hono's context, spelled out so that every version's own type fits. */
export interface HonoContext {
  readonly env: unknown;
  readonly req: { readonly raw: WebRequest; readonly bodyCache?: object };
}

/** Never rejects. */
export type HonoHandler = (context: HonoContext) => Promise<Response>;

/**
 * A handler for one route of Hono 4. Mount it with `all`, so that a GET is answered 405.
 *
 * ```ts
 * app.all("/webhooks/escrow", honoWebhook(mirror));
 * ```
 *
 * A middleware in front may have called `c.req.json()`, `text()` or `arrayBuffer()`: Hono keeps what they read. Where
 * one has read `c.req.raw` itself, the bytes are gone, and the answer is 500, which the service retries.
 *
 * @param mirror a mirror or the promise of one; until that is kept, and when it is broken, the answer is 503
 * @throws TypeError when `mirror` is neither
 */
export function honoWebhook(mirror: MirrorSource): HonoHandler {
  const answer = createAnswer(mirror);
  return async (context) => {
    const { raw } = context.req;
    const incoming = incomingOf(context);
    const headers = incoming?.rawHeaders ?? raw.headers;
    const readBody = (bytesMax: number) => readHonoBody(context, incoming, bytesMax);
    const result = await answer({ method: raw.method, headers, readBody, hint });
    const unread = closes(result) ? discardHono(context, incoming) : undefined;
    return toResponse(result === gone ? gone : { ...result, headers: headersFor(incoming, result) }, unread);
  };
}

const hint =
  "Hono: mount app.all(path, honoWebhook(mirror)) above the middleware that reads c.req.raw, or let that middleware read through c.req.text(), which Hono keeps";

/** On Node, `@hono/node-server` passes Node's own request on: repeated headers stand apart in it, and it reads faster. */
function incomingOf({ env }: HonoContext): NodeRequest | undefined {
  const { incoming } = (env ?? {}) as { incoming?: NodeRequest };
  return Array.isArray(incoming?.rawHeaders) ? incoming : undefined;
}

async function readHonoBody(
  { req }: HonoContext,
  incoming: NodeRequest | undefined,
  bytesMax: number,
): Promise<RawBody | Gone> {
  const rawBody = await cachedBytes(req.bodyCache);
  if (rawBody !== undefined) return keptBody({ rawBody }, sentAs(req.raw), bytesMax);
  const isUnread = incoming?.readableDidRead === false && incoming.destroyed === false && !req.raw.bodyUsed;
  return isUnread ? readStream(incoming, bytesMax) : readWebBody(req.raw, bytesMax);
}

function sentAs({ headers }: WebRequest): SentAs {
  return {
    length: headers.get("content-length") ?? undefined,
    encoding: headers.get("content-encoding") ?? undefined,
  };
}

async function discardHono({ req }: HonoContext, incoming: NodeRequest | undefined): Promise<void> {
  if (incoming === undefined) await discardWeb(req.raw);
  else if (incoming.complete === false) await discard(incoming);
}

/** Of what `c.req` read, only bytes and text will do: anything else was parsed. */
async function cachedBytes(cache: object = {}): Promise<Uint8Array | string | undefined> {
  const { arrayBuffer, text } = cache as { arrayBuffer?: Promise<ArrayBuffer>; text?: Promise<string> };
  return arrayBuffer === undefined ? text : new Uint8Array(await arrayBuffer);
}
