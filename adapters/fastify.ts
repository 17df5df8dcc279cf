import type { KeptBody } from "./lib/kept-body.ts";
import type { NodeBodyStream } from "../src/index.ts";
import { sendNode, toRequest, type NodeRequest, type NodeResponse } from "./lib/node-stream.ts";
import { createAnswer, faultOf, type MirrorSource } from "./lib/protocol.ts";

export type { MirrorSource };
export type { NodeRequest, NodeResponse } from "./lib/node-stream.ts";
export type { MirrorOpener, WebhookReceiver } from "./lib/protocol.ts";

/** Options of the plugin. */
export interface FastifyWebhookOptions {
  /** A mirror, a promise of one, or a function that opens one. While a promise is pending, or if it rejects, requests get 503. */
  readonly mirror: MirrorSource;
  /**
   * The route, with a slash at its start, below the prefix that the plugin is registered with. It works with and without a
   * slash at its end.
   */
  readonly path: string;
}

/** The parts of a Fastify instance that the plugin uses. Every version of Fastify fits this type. */
export interface FastifyHost {
  /** Adds the route. */
  all(path: string, options: { preParsing: FastifyHook }, handler: FastifyHook): unknown;
  /** How the app was created. */
  readonly initialConfig: RouterOptions & {
    /** Router options, as Fastify 5 groups them. */
    readonly routerOptions?: RouterOptions;
  };
}

/** Options of Fastify's router. */
interface RouterOptions {
  /** Whether Fastify itself takes the path with and without a slash at its end. */
  readonly ignoreTrailingSlash?: boolean;
}

/** The parts of Fastify's request that the plugin uses. */
export interface FastifyRequest extends KeptBody {
  /** Node's own request. */
  readonly raw: NodeRequest;
}

/** The parts of Fastify's reply that the plugin uses. */
export interface FastifyReply {
  /** Node's own response. */
  readonly raw: NodeResponse;
  /** Tells Fastify that the plugin sends the answer. */
  hijack(): unknown;
}

/** A hook or a route handler of Fastify. */
type FastifyHook = (request: FastifyRequest, reply: FastifyReply, payload?: unknown) => void;

/**
 * A plugin for Fastify 4 and 5. Register it once for each path and mirror.
 *
 * ```ts
 * await app.register(fastifyWebhook, { mirror, path: "/webhooks/escrow" });
 * ```
 *
 * It answers before Fastify looks for a content-type parser. So the app's own parsers never get the webhook. The app's hooks
 * up to `onRequest` run. `preValidation` and later hooks don't.
 *
 * @throws TypeError if `mirror` or `path` is not as `FastifyWebhookOptions` says
 */
export async function fastifyWebhook(app: FastifyHost, options: FastifyWebhookOptions): Promise<void> {
  const { mirror, path } = options;
  if (typeof path !== "string" || !path.startsWith("/"))
    throw new TypeError('fastifyWebhook: pass { path: "/webhooks/escrow" }, with a slash at its start');
  const respond = createRespond(mirror);
  for (const each of pathsOf(app, path)) app.all(each, { preParsing: respond }, respond);
}

/** A redirect or a 404 for the sake of a slash would cost the delivery. */
function pathsOf({ initialConfig }: FastifyHost, path: string): string[] {
  const places = [initialConfig, initialConfig.routerOptions];
  const bare = path.replace(/\/+$/, "");
  return bare === "" || places.some((each) => each?.ignoreTrailingSlash === true)
    ? [path]
    : [bare, `${bare}/`];
}

/** It never calls `done`: with the hijacked reply, Fastify's part of the request ends here. */
function createRespond(source: MirrorSource): FastifyHook {
  const answer = createAnswer(source);
  const handle = async (request: FastifyRequest, reply: FastifyReply, payload?: unknown): Promise<void> => {
    const { raw } = request;
    const stream = isStream(payload) ? payload : raw;
    try {
      await sendNode(raw, reply.raw, await answer(toRequest(raw, hint, { kept: request, stream })), stream);
    } catch (error) {
      await answer(faultOf(error, hint));
      reply.raw.destroy();
    }
  };
  return (request, reply, payload) => {
    reply.hijack();
    void handle(request, reply, payload);
  };
}

const hint =
  "Fastify: an onRequest or preParsing hook reads the request before fastifyWebhook does: leave the webhook's path out of it, or let it keep the bytes in request.rawBody (fastify-raw-body does, with { encoding: false })";

/** Another hook may have put a stream of its own in the place of the request. */
function isStream(payload: unknown): payload is NodeBodyStream {
  return typeof (payload as Partial<NodeBodyStream> | null | undefined)?.resume === "function";
}
