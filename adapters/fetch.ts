import { closes, createAnswer, type MirrorSource } from "./lib/protocol.ts";
import { discardWeb, readWebBody, toResponse, type WebRequest } from "./lib/web-stream.ts";

export type { MirrorSource };
export type { WebHeaders, WebRequest, WebStream } from "./lib/web-stream.ts";
export type { WebhookReceiver } from "./lib/protocol.ts";

/** Never rejects. */
export type FetchHandler = (request: WebRequest) => Promise<Response>;

/**
 * A handler from `Request` to `Response`: Next.js route handlers, Remix, SvelteKit, `Bun.serve`, and whatever else speaks
 * the Fetch API on Node. Export it for every method, so that a GET is answered 405.
 *
 * ```ts
 * const handler = fetchWebhook(mirror);
 * export { handler as GET, handler as POST };
 * ```
 *
 * A request whose body was read before is answered 500, which the service retries.
 *
 * @param mirror a mirror or the promise of one; until that is kept, and when it is broken, the answer is 503
 * @throws TypeError when `mirror` is neither
 */
export function fetchWebhook(mirror: MirrorSource): FetchHandler {
  const answer = createAnswer(mirror);
  return async (request) => {
    const { method, headers } = request;
    const readBody = (bytesMax: number) => readWebBody(request, bytesMax);
    const result = await answer({ method, headers, readBody, hint });
    return toResponse(result, closes(result) ? discardWeb(request) : undefined);
  };
}

const hint =
  "fetch: pass the request to fetchWebhook(mirror) before request.json(), text() or formData() is called; or give it a clone: fetchWebhook(mirror)(request.clone())";
