import { closes, createAnswer, faultOf, type MirrorSource } from "./lib/protocol.ts";
import { discardWeb, toResponse, webBody } from "./lib/web-stream.ts";

export type { MirrorSource };
export type { MirrorOpener, WebhookReceiver } from "./lib/protocol.ts";

/** Answers one request. Never rejects. */
export type FetchHandler = (request: Request) => Promise<Response>;

/**
 * A handler from `Request` to `Response`, for Next.js route handlers, Remix, SvelteKit and any other host with the Fetch API
 * on Node. Use it for every method, so that a GET gets 405.
 *
 * ```ts
 * const handler = fetchWebhook(mirror); // Next.js: fetchWebhook(() => createMirror({ … })), since a build imports the route
 * export { handler as GET, handler as POST };
 * ```
 *
 * Where a route gets the request inside an object, pass it on. Remix: `export const action = ({ request }) => handler(request)`.
 * SvelteKit: the same function, exported as `POST`.
 *
 * If the body of a request was read before, the handler answers 500, and the service retries.
 *
 * @param mirror A mirror, a promise of one, or a function that opens one. While a promise is pending, or if it
 * rejects, requests get 503.
 * @throws TypeError if `mirror` is none of these
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
      return toResponse(await answer(faultOf(error, hint)));
    }
  };
}

const hint =
  "fetch: pass the request to fetchWebhook(mirror) before request.json(), text() or formData() is called; or give it a clone: fetchWebhook(mirror)(request.clone())";
