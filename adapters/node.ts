import { createNodeHandler, type NodeHandler } from "./lib/node-handler.ts";
import type { MirrorSource } from "./lib/protocol.ts";

export type { NodeHandler, MirrorSource };
export type { NodeRequest, NodeResponse } from "./lib/node-stream.ts";
export type { MirrorOpener, WebhookReceiver } from "./lib/protocol.ts";

/**
 * A handler for Node's own `http`, `https` and `http2` servers (the last with its compatibility API), and for cloud
 * functions of the same shape. It does not look at the path.
 *
 * ```ts
 * const webhook = nodeWebhook(mirror);
 * createServer((req, res) => (req.url === "/webhooks/escrow" ? webhook(req, res) : other(req, res)));
 * ```
 *
 * If the request's stream was read before, it uses the bytes in `req.rawBody`, or a `req.body` that is a `Buffer` or text. If
 * the bytes are gone, it answers 500, and the service retries.
 *
 * @param mirror A mirror, a promise of one, or a function that opens one. While a promise is pending, or if it
 * rejects, requests get 503.
 * @throws TypeError if `mirror` is none of these
 */
export function nodeWebhook(mirror: MirrorSource): NodeHandler {
  return createNodeHandler(mirror, hint);
}

const hint =
  "node:http: call nodeWebhook(mirror)(req, res) before anything reads req or sets its encoding; or keep the bytes that were read: req.rawBody = Buffer.concat(chunks)";
