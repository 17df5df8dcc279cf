import type { ReceiveRequest } from "../src/index.ts";
import { keptBody } from "./lib/kept-body.ts";
import { discard, headersFor, type NodeRequest } from "./lib/node-stream.ts";
import { closes, createAnswer, faultOf, type MirrorSource } from "./lib/protocol.ts";
import { discardWeb, toResponse, webBody, type WebRequest } from "./lib/web-stream.ts";

export type { MirrorSource };
export type { WebHeaders, WebRequest } from "./lib/web-stream.ts";
export type { MirrorOpener, WebhookReceiver } from "./lib/protocol.ts";

/** The parts of Hono's context that the handler uses. Every version of Hono fits this type. */
export interface HonoContext {
  /** The bindings of the platform. On Node: its request and response. */
  readonly env: unknown;
  /** Hono's request. */
  readonly req: {
    /** The platform's own `Request`. */
    readonly raw: WebRequest;
    /** The bodies that Hono has read and kept. */
    readonly bodyCache?: object;
  };
}

/** Answers one request. Never rejects. */
export type HonoHandler = (context: HonoContext) => Promise<Response>;

/**
 * A handler for one route of Hono 4. Mount it with `all`, so that a GET gets 405.
 *
 * ```ts
 * app.all("/webhooks/escrow", honoWebhook(mirror));
 * ```
 *
 * A middleware in front may call `c.req.json()`, `text()` or `arrayBuffer()`: Hono keeps the bytes. If one has read
 * `c.req.raw` itself, the bytes are gone: the answer is 500, and the service retries.
 *
 * @param mirror A mirror, a promise of one, or a function that opens one. While a promise is pending, or if it
 * rejects, requests get 503.
 * @throws TypeError if `mirror` is none of these
 */
export function honoWebhook(mirror: MirrorSource): HonoHandler {
  const answer = createAnswer(mirror);
  return async (context) => {
    try {
      const { raw } = context.req;
      const incoming = incomingOf(context);
      const headers = incoming?.rawHeaders ?? raw.headers;
      const body = honoBody(context, incoming);
      const source = body instanceof Promise ? await body : body;
      const result = await answer({ method: raw.method, headers, hint, ...source });
      const unread = closes(result) ? discardHono(context, incoming) : undefined;
      return toResponse({ ...result, headers: headersFor(incoming, result) }, unread);
    } catch (error) {
      return toResponse(await answer(faultOf(error, hint)));
    }
  };
}

const hint =
  "Hono: mount app.all(path, honoWebhook(mirror)) above the middleware that reads c.req.raw, or let that middleware read through c.req.text(), which Hono keeps";

/** On Node, `@hono/node-server` passes Node's own request on: repeated headers stand apart in it, and it reads faster. */
function incomingOf({ env }: HonoContext): NodeRequest | undefined {
  const { incoming } = (env ?? {}) as { incoming?: NodeRequest };
  return Array.isArray(incoming?.rawHeaders) ? incoming : undefined;
}

type Source = Pick<ReceiveRequest, "body" | "isSecondHand">;

function honoBody({ req }: HonoContext, incoming: NodeRequest | undefined): Source | Promise<Source> {
  const cached = cachedBytes(req.bodyCache);
  if (cached !== undefined) return keptBytes(cached, req.raw.headers.get("content-length") ?? undefined);
  if (incoming === undefined) return { body: webBody(req.raw) };
  if (incoming.readableDidRead === false && !req.raw.bodyUsed) return { body: incoming };
  // A body that was read and not cloned is empty, or only its rest.
  return { body: webBody(req.raw), isSecondHand: true };
}

/** Of what `c.req` read, only bytes and text will do: anything else was parsed. */
function cachedBytes(cache: object = {}): Promise<ArrayBuffer | string> | undefined {
  const { arrayBuffer, text } = cache as { arrayBuffer?: Promise<ArrayBuffer>; text?: Promise<string> };
  return arrayBuffer ?? text;
}

async function keptBytes(cached: Promise<ArrayBuffer | string>, length: string | undefined): Promise<Source> {
  const read = await cached;
  const rawBody = typeof read === "string" ? read : new Uint8Array(read);
  return { body: keptBody({ rawBody }, length), isSecondHand: true };
}

async function discardHono({ req }: HonoContext, incoming: NodeRequest | undefined): Promise<void> {
  if (incoming === undefined) await discardWeb(req.raw);
  else if (incoming.complete === false) await discard(incoming);
}
