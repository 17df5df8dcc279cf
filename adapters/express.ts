import { createNodeHandler, type NodeHandler } from "./lib/node-handler.ts";
import type { MirrorSource } from "./lib/protocol.ts";

export type { NodeHandler, MirrorSource };
export type { NodeRequest, NodeResponse } from "./lib/node-stream.ts";
export type { MirrorOpener, WebhookReceiver } from "./lib/protocol.ts";

/**
 * A handler for one route of Express 4 or 5. Mount it with `all`, so that a GET gets 405. Mount it before `express.json()`:
 * the signature is over the bytes as sent.
 *
 * ```ts
 * app.all("/webhooks/escrow", expressWebhook(mirror));
 * app.use(express.json());
 * ```
 *
 * If a parser ran before, it reads the bytes from `req.rawBody`, or from the `Buffer` of `express.raw()`. If the bytes are gone, it
 * answers 500, the service retries, and the log names the line to change. It never calls `next`.
 *
 * @param mirror A mirror, a promise of one, or a function that opens one. While a promise is pending, or if it
 * rejects, requests get 503.
 * @throws TypeError if `mirror` is none of these
 */
export function expressWebhook(mirror: MirrorSource): NodeHandler {
  return createNodeHandler(mirror, hint);
}

const hint =
  "Express: move app.all(path, expressWebhook(mirror)) above app.use(express.json()); or keep the bytes: express.json({ verify: (req, res, bytes) => { req.rawBody = bytes; } })";
