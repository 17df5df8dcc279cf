/** Node's request and response, as http, Express and Fastify have them. */
import type { NodeBodyStream, ReceiveRequest, ReceiveResult } from "../../src/index.ts";
import { keptBody, type KeptBody } from "./kept-body.ts";
import { createLinger } from "./linger.ts";
import { closes } from "./protocol.ts";

/**
 * The parts of Node's `IncomingMessage` that the handler uses. The request of every framework on Node fits this type.
 */
export interface NodeRequest extends KeptBody, NodeBodyStream {
  /** The HTTP method. */
  readonly method?: string | undefined;
  /** The headers by lower-case name. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** Names and values in turn, as received. */
  readonly rawHeaders?: readonly string[] | undefined;
  /** The HTTP version, such as 1 or 2. */
  readonly httpVersionMajor?: number;
  /** Whether the whole body has arrived. */
  readonly complete?: boolean;
  /** The HTTP/2 stream of the request. */
  readonly stream?: {
    /** Ends the stream with this error code. */
    close?(code: number): unknown;
  };
}

/** The parts of Node's `ServerResponse` that the handler uses. */
export interface NodeResponse {
  /** Whether an answer has begun. */
  readonly headersSent: boolean;
  /** Whether the connection is gone. */
  readonly destroyed?: boolean;
  /** Whether the whole answer was handed to the system. */
  readonly writableFinished?: boolean;
  /** Sends status and headers. */
  writeHead(status: number, headers: Record<string, string | number>): unknown;
  /** Sends a part of the body. */
  write(chunk: string): unknown;
  /** Ends the answer. */
  end(): unknown;
  end(chunk: string): unknown;
  /** Ends the connection. */
  destroy(): unknown;
  /** Calls `listener` at each of these events. */
  on?(event: string, listener: () => void): unknown;
}

/** Where a host keeps bytes and stream, if that is not the request itself. */
export interface BodyParts {
  readonly kept: KeptBody;
  readonly stream: NodeBodyStream;
}

export function toRequest(
  req: NodeRequest,
  hint: string,
  { kept, stream }: BodyParts = { kept: req, stream: req },
): ReceiveRequest {
  const body = keptBody(kept, req.headers["content-length"]?.toString()) ?? stream;
  return {
    method: req.method,
    // Node joins repeated headers in `headers`; a gateway's imitation of a request may have nothing else.
    headers: req.rawHeaders?.length ? req.rawHeaders : req.headers,
    body,
    // A hook's own stream may be an inflated one.
    isSecondHand: body !== req,
    hint,
  };
}

/**
 * Sends nothing if something else has answered already. Resolves when the answer is sent, or the connection is gone.
 *
 * @param stream where the body comes from
 */
export async function sendNode(
  req: NodeRequest,
  res: NodeResponse,
  result: ReceiveResult,
  stream: NodeBodyStream = req,
): Promise<void> {
  if (res.headersSent || res.destroyed === true) return;
  const { status, body } = result;
  res.writeHead(status, { ...headersFor(req, result), "content-length": Buffer.byteLength(body) });
  if (closes(result) && req.complete === false) await sendCutting(req, res, body, stream);
  else res.end(body);
  // Node discards the unread rest of the request, but not that of a stream that a hook made of it.
  if (stream !== req) stream.resume();
  await sent(res);
}

/** Ends the connection only after the sender has stopped, so that he gets the answer first. On HTTP/2 it ends the stream. */
async function sendCutting(
  req: NodeRequest,
  res: NodeResponse,
  body: string,
  stream: NodeBodyStream,
): Promise<void> {
  if (isHttp2(req)) res.end(body);
  else res.write(body);
  await discard(stream);
  if (isHttp2(req)) req.stream?.close?.(noError);
  else res.end();
}

/** "The answer is complete, send no more" (RFC 9113 §8.1). */
const noError = 0;

function isHttp2({ httpVersionMajor = 1 }: NodeRequest): boolean {
  return httpVersionMajor >= 2;
}

/** On HTTP/2 the header `connection` is not allowed: each answer ends its own stream. */
export function headersFor(
  req: NodeRequest | undefined,
  { headers }: ReceiveResult,
): ReceiveResult["headers"] {
  if (req === undefined || !isHttp2(req)) return headers;
  return Object.fromEntries(Object.entries(headers).filter(([name]) => name !== "connection"));
}

/** Discards what still arrives, until the sender has stopped or the linger is over. */
export async function discard(stream: NodeBodyStream): Promise<void> {
  const linger = createLinger();
  stream.on("data", linger.more);
  stream.on("end", linger.end);
  stream.on("close", linger.end);
  stream.resume();
  await linger.over;
  linger.end();
}

/** An imitation of a response may have neither event. */
function sent(res: NodeResponse): Promise<void> {
  return new Promise((resolve) => {
    if (res.writableFinished !== false || res.destroyed === true || res.on === undefined) return resolve();
    res.on("finish", resolve);
    res.on("close", resolve);
  });
}
