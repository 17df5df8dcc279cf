import { createServer } from "node:http";
import type { IncomingMessage, Server, ServerResponse } from "node:http";

import { err, ok } from "../../shared/result.ts";
import type { Granted, Refusal } from "../wire/refusal.ts";
import { SandboxError } from "../world/sandbox-error.ts";
import { refused } from "./answer.ts";
import type { Answer } from "./answer.ts";
import type { Call } from "./call.ts";
import type { Address } from "./hosts.ts";

/** `"cut"`: no answer; the connection is closed. */
export type Handler = (call: Call) => Promise<Answer | "cut"> | Answer | "cut";

/** Any request to the service is far below it. */
const bodyBytesMax = 1_048_576;
/** How much of a body that is too big is read and dropped, so that its sender gets the answer. */
const discardBytesMax = 16 * bodyBytesMax;
/** A sender that takes longer than this over one request is cut off. */
const requestMs = 30_000;

/** A plain server: reads, bounded; hands on; answers. Whatever a handler throws is a 500, and the next is served. */
export function createHttpServer(handle: Handler, now: () => number): Server {
  const server = createServer({ requestTimeout: requestMs, keepAliveTimeout: 5_000 }, (request, response) => {
    void answer(request, response, handle, now);
  });
  server.on("clientError", (_error, socket) => {
    if (!socket.writable) return;
    const { body } = refused({
      status: 400,
      message: "BadRequest",
      detail: "This is not an HTTP/1.1 request.",
    });
    const head = `HTTP/1.1 400 Bad Request\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}`;
    socket.end(`${head}\r\nConnection: close\r\n\r\n${body}`);
  });
  return server;
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  handle: Handler,
  now: () => number,
): Promise<void> {
  try {
    const body = await readBody(request);
    if (body === undefined) return;
    const call = body.ok ? toCall(request, body.value) : body;
    const made = call.ok ? await handle(call.value) : refused(call.error);
    if (made === "cut") request.socket.destroy();
    else write(response, request.method === "HEAD" ? { ...made, body: "" } : made, now, !body.ok);
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error);
    if (response.headersSent) response.destroy();
    else write(response, refused({ status: 500, message: "InternalServerError", detail }), now, false);
  }
}

const tooBig: Refusal = {
  status: 413,
  message: "RequestTooLarge",
  detail: `The request body is larger than ${bodyBytesMax} bytes.`,
};
const badUrl: Refusal = {
  status: 400,
  message: "BadRequest",
  detail: "The request's path is not a valid URL.",
};

/** Undefined: whoever asked is gone. */
function readBody(request: IncomingMessage): Promise<Granted<Buffer> | undefined> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    request.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes <= bodyBytesMax) chunks.push(chunk);
      else chunks.length = 0;
      if (bytes > discardBytesMax) resolve(err(tooBig));
    });
    request.on("end", () => resolve(bytes > bodyBytesMax ? err(tooBig) : ok(Buffer.concat(chunks))));
    request.on("error", () => resolve(undefined));
    request.on("close", () => resolve(undefined));
  });
}

function toCall(request: IncomingMessage, body: Buffer): Granted<Call> {
  const target = request.url ?? "/";
  const queryAt = target.indexOf("?");
  const rawPath = queryAt === -1 ? target : target.slice(0, queryAt);
  try {
    const path = rawPath.includes("%") ? decodeURIComponent(rawPath) : rawPath;
    const query = new URLSearchParams(queryAt === -1 ? "" : target.slice(queryAt + 1));
    return ok({ method: request.method ?? "GET", path, query, headers: request.headers, body });
  } catch {
    return err(badUrl);
  }
}

/** `Date` is the sandbox's clock's, not the machine's: whoever reads it compares it with the events' times. */
function write(response: ServerResponse, made: Answer, now: () => number, close: boolean): void {
  response.sendDate = false;
  response.writeHead(made.status, {
    "Content-Type": made.contentType ?? "application/json; charset=utf-8",
    "Content-Length": Buffer.byteLength(made.body),
    Date: httpDate(now()),
    "Cache-Control": "no-store",
    ...(close ? { Connection: "close" } : {}),
    ...made.headers,
  });
  response.end(made.body);
}

let lastSecond = Number.NaN;
let lastDate = "";

function httpDate(ms: number): string {
  const second = Math.floor(ms / 1_000);
  if (second !== lastSecond) lastDate = new Date(ms).toUTCString();
  lastSecond = second;
  return lastDate;
}

/** Listens, and says in the error what to do when it can't. */
export function listen(server: Server, host: string, port: number): Promise<Address> {
  return new Promise((resolve, reject) => {
    server.once("error", (cause: NodeJS.ErrnoException) => reject(explainListen(cause, host, port)));
    server.listen(port, host, () => {
      const address = server.address();
      if (typeof address === "object" && address !== null)
        resolve({ host: address.address, port: address.port });
    });
  });
}

function explainListen(cause: NodeJS.ErrnoException, host: string, port: number): SandboxError {
  if (cause.code === "EADDRINUSE") {
    return new SandboxError(
      "address-in-use",
      `Port ${port} on ${host} is in use by another program, perhaps another sandbox. Stop it, or choose another port: 0 takes any free one.`,
      { cause },
    );
  }
  return new SandboxError(
    "invalid-configuration",
    `Can't listen on ${host}:${port}: ${cause.message}. The host must be an address of this machine, such as 127.0.0.1; ports below 1024 may need special rights.`,
    { cause },
  );
}
