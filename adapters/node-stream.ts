/** Node's request and response, as http, Express and Fastify have them. */
import { isUint8Array } from "node:util/types";
import type { ReceiveResult } from "../src/index.ts";
import { keptBytes, type KeptBody } from "./kept-body.ts";
import { createLinger } from "./linger.ts";
import { closes, gone, type Gone, type HostRequest, type RawBody } from "./protocol.ts";

/** What is needed of Node's `IncomingMessage`, spelled out so that every framework's and version's own type fits. */
export interface NodeRequest extends KeptBody {
  readonly method?: string | undefined;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly rawHeaders?: readonly string[] | undefined;
  readonly complete?: boolean;
  readonly readableDidRead?: boolean;
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
  end(chunk?: string): unknown;
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
  const { "content-length": length } = req.headers;
  const bytes = keptBytes(kept, typeof length === "string" ? length : undefined);
  if (bytes !== undefined || stream.readableDidRead === true) return bytes;
  return stream.destroyed === true ? gone : readStream(stream, bytesMax);
}

/** Any readable stream of bytes; some hosts pass one on that is not the request itself. */
export type ByteStream = Pick<NodeRequest, "on" | "off" | "pause" | "readableDidRead" | "destroyed">;

/** Holds at most `bytesMax` and one chunk, and leaves the rest unread. */
export function readStream(stream: ByteStream, bytesMax: number): Promise<Uint8Array | Gone> {
  return new Promise((resolve) => {
    const chunks: Uint8Array[] = [];
    let bytes = 0;
    const finish = (): void => {
      stream.off("data", onData);
      stream.pause();
      resolve(joined(chunks));
    };
    const onData = (chunk: unknown): void => {
      const piece = isUint8Array(chunk) ? chunk : Buffer.from(String(chunk));
      chunks.push(piece);
      bytes += piece.byteLength;
      if (bytes > bytesMax) finish();
    };
    stream.on("data", onData);
    stream.on("end", finish);
    // These stay: an "error" that comes later would end the process if nobody listened.
    stream.on("error", () => resolve(gone));
    stream.on("close", () => resolve(gone));
  });
}

/** Most bodies come in one piece, which needs no copy: the mirror makes its own. */
export function joined(chunks: readonly Uint8Array[]): Uint8Array {
  const [only] = chunks;
  return chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks);
}

/** Sends nothing where something else has answered already. */
export async function sendNode(req: NodeRequest, res: NodeResponse, result: ReceiveResult): Promise<void> {
  if (res.headersSent || res.destroyed === true) return;
  const { status, headers, body } = result;
  res.writeHead(status, { ...headers, "content-length": Buffer.byteLength(body) });
  if (closes(result) && req.complete === false) {
    res.write(body);
    await discard(req);
    res.end();
  } else res.end(body);
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
