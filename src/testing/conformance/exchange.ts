/** One request to a receiver, as the service sends it: no redirect is followed. */
import { request as requestHttp, type RequestOptions } from "node:http";
import { request as requestHttps } from "node:https";

export interface Sent {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array;
  /** Without `Content-Length`, as a sender that streams has it. */
  readonly isChunked?: boolean | undefined;
}

/** The answer. `status` is `undefined` if none came: `problem` then says why. */
export interface Answer {
  readonly status: number | undefined;
  readonly problem: string;
}

/** Never rejects. */
export function exchange(url: string, sent: Sent, timeoutMs: number): Promise<Answer> {
  const bytes = Buffer.from(sent.body);
  const length = sent.isChunked === true ? {} : { "Content-Length": String(bytes.length) };
  const options: RequestOptions = {
    method: sent.method,
    headers: { ...sent.headers, ...length, Connection: "close" },
    timeout: timeoutMs,
    agent: false,
  };
  return new Promise((resolve) => {
    const request = (url.startsWith("https:") ? requestHttps : requestHttp)(url, options, (response) => {
      response.resume();
      resolve({ status: response.statusCode, problem: "" });
    });
    request.on("timeout", () => {
      resolve({ status: undefined, problem: `no answer within ${timeoutMs / 1000} s` });
      request.destroy();
    });
    request.on("error", ({ message }) => resolve({ status: undefined, problem: message }));
    if (sent.isChunked === true) writeInChunks(request, bytes);
    else request.end(bytes);
  });
}

function writeInChunks(request: { write(chunk: Buffer): unknown; end(): unknown }, bytes: Buffer): void {
  const half = Math.ceil(bytes.length / 2);
  request.write(bytes.subarray(0, half));
  request.write(bytes.subarray(half));
  request.end();
}
