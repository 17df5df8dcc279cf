import { closes, createAnswer, faultOf, type MirrorSource } from "./lib/protocol.ts";
import { discardWeb, toResponse, webBody } from "./lib/web-stream.ts";

export type { MirrorSource };
export type { MirrorOpener, WebhookReceiver } from "./lib/protocol.ts";

/** Never rejects. */
export type FetchHandler = (request: Request) => Promise<Response>;

/**
 * A handler from `Request` to `Response`: Next.js route handlers, Remix, SvelteKit, `Bun.serve`, and whatever else speaks
 * the Fetch API on Node. Export it for every method, so that a GET is answered 405.
 *
 * ```ts
 * const handler = fetchWebhook(mirror); // Next.js: fetchWebhook(() => createMirror({ … })), since a build imports the route
 * export { handler as GET, handler as POST };
 * ```
 *
 * A request whose body was read before is answered 500, which the service retries.
 *
 * @param mirror A mirror, a promise of one, or a function that opens one. While a promise is pending, or if it rejects, requests get 503.
 * @throws TypeError when `mirror` is none of these
 */
export function fetchWebhook(mirror: MirrorSource): FetchHandler {
  const answer = createAnswer(mirror);
  return async (request) => {
    try {
      const { method, headers } = request;
      const result = await answer({
        method,
        headers,
        hint,
        // Some runtimes begin to read once it is asked for, and then can't throw away what nobody wanted.
        get body() {
          return webBody(request);
        },
      });
      return toResponse(result, closes(result) ? discardWeb(request) : undefined);
    } catch (error) {
      return toResponse(await answer(faultOf(error)));
    }
  };
}

const hint =
  "fetch: pass the request to fetchWebhook(mirror) before request.json(), text() or formData() is called; or give it a clone: fetchWebhook(mirror)(request.clone())";
