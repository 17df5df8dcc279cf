import { lookup as systemLookup } from "node:dns";
import { request as httpRequest } from "node:http";
import type { IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import type { LookupFunction } from "node:net";

import { clearTimeout, setTimeout } from "../../shared/timers.ts";

/** One HTTP POST, ready to go: the bytes here are the bytes that were signed. */
export interface SignedRequest {
  url: string;
  headers: Record<string, string>;
  body: Uint8Array;
}

export interface Sent {
  /** Null when there was no answer. */
  status: number | null;
  error: string | null;
  /** The answer's first 4 KiB. */
  responseBody: string;
}

const responseBytesKept = 4_096;
/** A receiver that answers megabytes is cut off: only its status counts. */
const responseBytesMax = 65_536;
/** How long the rest of an answer may take once its status is known. */
const responseBodyMs = 1_000;

/**
 * Makes one attempt. Never throws and never follows a redirect: whatever goes wrong is in the result. `signal`
 * ends it; its reason becomes the error.
 */
export function send(request: SignedRequest, signal: AbortSignal): Promise<Sent> {
  return new Promise((resolve) => {
    const fail = (error: unknown): void =>
      resolve({ status: null, error: explain(error, signal), responseBody: "" });
    try {
      const post = request.url.startsWith("https:") ? httpsRequest : httpRequest;
      const headers = { ...request.headers, "Content-Length": String(request.body.byteLength) };
      // A connection of its own each time: a kept one may have died meanwhile, and that would look like an outage.
      const outgoing = post(request.url, { method: "POST", headers, agent: false, lookup, signal });
      outgoing.on("error", fail);
      outgoing.on("response", (response) => void readAnswer(response).then(resolve));
      outgoing.on("upgrade", (response, socket) => {
        socket.destroy();
        resolve({
          status: response.statusCode ?? null,
          error: "The receiver wanted another protocol.",
          responseBody: "",
        });
      });
      outgoing.end(request.body);
    } catch (error) {
      fail(error);
    }
  });
}

/** Reads on until the answer ends, breaks, gets too long or takes too long: its status stands in any case. */
function readAnswer(response: IncomingMessage): Promise<Sent> {
  return new Promise((resolve) => {
    const kept: Buffer[] = [];
    let seen = 0;
    const done = (): void => {
      clearTimeout(timer);
      response.destroy();
      const responseBody = Buffer.concat(kept).subarray(0, responseBytesKept).toString("utf8");
      resolve({ status: response.statusCode ?? null, error: describeStatus(response), responseBody });
    };
    const timer = setTimeout(done, responseBodyMs);
    response.on("data", (chunk: Buffer) => {
      if (seen < responseBytesKept) kept.push(chunk);
      seen += chunk.length;
      if (seen > responseBytesMax) done();
    });
    for (const end of ["end", "error", "aborted", "close"]) response.on(end, done);
  });
}

function describeStatus(response: IncomingMessage): string | null {
  const status = response.statusCode ?? 0;
  if (status >= 200 && status < 300) return null;
  const target = response.headers.location;
  if (status >= 300 && status < 400 && target !== undefined) {
    return `HTTP ${status}: a redirect to ${target.slice(0, 200)}, which is not followed. Set the webhook URL to the final address.`;
  }
  return `HTTP ${status} ${response.statusMessage ?? ""}`.trim();
}

/** Says what was tried: `connect ECONNREFUSED 127.0.0.1:3000, connect ECONNREFUSED ::1:3000`. */
function explain(error: unknown, signal: AbortSignal): string {
  if (signal.aborted) return String(signal.reason);
  if (error instanceof AggregateError) return error.errors.map(messageOf).join(", ");
  return messageOf(error);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** `localhost` is both loopback addresses (RFC 6761), whatever the machine's hosts file says: each is tried. */
const lookup: LookupFunction = (hostname, options, callback) => {
  if (!/^(.+\.)?localhost\.?$/i.test(hostname)) {
    systemLookup(hostname, options, callback);
    return;
  }
  const addresses = [
    { address: "127.0.0.1", family: 4 },
    { address: "::1", family: 6 },
  ];
  process.nextTick(() => {
    if (options.all === true) callback(null, addresses);
    else callback(null, "127.0.0.1", 4);
  });
};
