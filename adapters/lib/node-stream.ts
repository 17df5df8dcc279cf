/** Node's request and response, as http, Express and Fastify have them. */
import { isUint8Array } from "node:util/types";
import type { ReceiveResult } from "../../src/index.ts";
import { createBodyChunks } from "./body-chunks.ts";
import { doubted, keptBody, type KeptBody, type SentAs } from "./kept-body.ts";
import { createLinger } from "./linger.ts";
import { closes, gone, type Doubtful, type Gone, type HostRequest, type RawBody } from "./protocol.ts";

/** What is needed of Node's `IncomingMessage`, spelled out so that every framework's and version's own type fits. */
export interface NodeRequest extends KeptBody {
  readonly method?: string | undefined;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly rawHeaders?: readonly string[] | undefined;
  readonly httpVersionMajor?: number;
  readonly complete?: boolean;
  readonly readableDidRead?: boolean;
  readonly readableEncoding?: BufferEncoding | null;
  readonly destroyed?: boolean;
  on(event: string, listener: (chunk: unknown) => void): unknown;
  off(event: string, listener: (chunk: unknown) => void): unknown;
  pause(): unknown;
  resume(): unknown;
}

/** What is needed of Node's `ServerResponse`. */
export interface NodeResponse {
  readonly headersSent: boolean;
  readonly destroyed?: boolean;
  writeHead(status: number, headers: Record<string, string | number>): unknown;
  write(chunk: string): unknown;
  end(): unknown;
  end(chunk: string): unknown;
  destroy(): unknown;
}

/** Where a host keeps bytes and stream, if that is not the request itself. */
export interface BodyParts {
  readonly kept: KeptBody;
  readonly stream: ByteStream;
}

export function toHostRequest(
  req: NodeRequest,
  hint: string,
  parts: BodyParts = { kept: req, stream: req },
): HostRequest {
  return {
    method: req.method ?? "",
    // Node joins repeated headers in `headers`; a gateway's imitation of a request may have nothing else.
    headers: req.rawHeaders?.length ? req.rawHeaders : req.headers,
    readBody: (bytesMax) => readNodeBody(req, parts, bytesMax),
    hint,
  };
}

async function readNodeBody(
  req: NodeRequest,
  { kept, stream }: BodyParts,
  bytesMax: number,
): Promise<RawBody | Gone> {
  const sent = sentAs(req);
  const body = keptBody(kept, sent, bytesMax);
  if (body !== undefined || stream.readableDidRead === true) return body;
  if (stream.destroyed === true) return gone;
  const read = await readStream(stream, bytesMax);
  // A hook's own stream may be an inflated one.
  const isOriginal = stream === req || !isUint8Array(read) || read.byteLength > bytesMax;
  return isOriginal ? read : doubted(read, sent);
}

function sentAs({ headers }: NodeRequest): SentAs {
  const valueOf = (name: string): string | undefined => headers[name]?.toString();
  return { length: valueOf("content-length"), encoding: valueOf("content-encoding") };
}

/** Any readable stream of bytes; some hosts pass one on that is not the request itself. */
export type ByteStream = Pick<
  NodeRequest,
  "on" | "off" | "pause" | "readableDidRead" | "readableEncoding" | "destroyed"
>;

/** Holds at most `bytesMax` and one chunk, and leaves the rest unread. */
export function readStream(stream: ByteStream, bytesMax: number): Promise<Uint8Array | Doubtful | Gone> {
  return new Promise((resolve) => {
    const chunks = createBodyChunks(bytesMax);
    const finish = (): void => {
      stream.off("data", onData);
      stream.pause();
      resolve(chunks.body());
    };
    const onData = (chunk: unknown): void => {
      chunks.add(chunk, stream.readableEncoding);
      if (chunks.isOver()) finish();
    };
    stream.on("data", onData);
    stream.on("end", finish);
    // These stay: an "error" that comes later would end the process if nobody listened.
    stream.on("error", () => resolve(gone));
    stream.on("close", () => resolve(gone));
  });
}

/** Sends nothing where something else has answered already. */
export async function sendNode(req: NodeRequest, res: NodeResponse, result: ReceiveResult): Promise<void> {
  if (res.headersSent || res.destroyed === true) return;
  const { status, body } = result;
  res.writeHead(status, { ...headersFor(req, result), "content-length": Buffer.byteLength(body) });
  if (closes(result) && req.complete === false) {
    res.write(body);
    await discard(req);
    res.end();
  } else res.end(body);
}

/** On HTTP/2 each answer ends its own stream, and the header that ends a connection has no place. */
export function headersFor(
  req: NodeRequest | undefined,
  { headers }: ReceiveResult,
): ReceiveResult["headers"] {
  if ((req?.httpVersionMajor ?? 1) < 2) return headers;
  return Object.fromEntries(Object.entries(headers).filter(([name]) => name !== "connection"));
}

/** Throws away what still comes, until the sender has stopped or the linger is over. */
export async function discard(req: NodeRequest): Promise<void> {
  const linger = createLinger();
  req.on("data", linger.more);
  req.on("end", linger.end);
  req.on("close", linger.end);
  req.resume();
  await linger.over;
  linger.end();
}
