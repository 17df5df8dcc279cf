/** A sender over a real port: it decides about framing, pace and repeated headers, which fetch would not let it. */
import { Agent, request, type ClientRequest, type IncomingMessage } from "node:http";
import { once } from "node:events";

export type HeaderPairs = readonly (readonly [string, string])[];

/** How the body goes out: at once with its length, in chunks without, or one byte to a chunk. */
export type Framing = "length" | "chunked" | "bytewise";

export interface Sent {
  readonly method?: string;
  readonly path: string;
  readonly headers?: HeaderPairs;
  /** A number: so many bytes of filler, made while they are sent. */
  readonly body?: Uint8Array | number;
  readonly framing?: Framing;
  /** Goes away after half of the body. */
  readonly abort?: boolean;
}

export interface Answered {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  readonly text: string;
  /** Whether it went over a connection that an earlier request has used. */
  readonly reused: boolean;
}

export interface Client {
  send(sent: Sent): Promise<Answered>;
  /** Resolves when the connection is cut. */
  abort(sent: Sent): Promise<void>;
  /** Sends so many bytes, and then one at a time without end. */
  drip(sent: Sent & { readonly body: number }): Promise<Answered>;
  close(): void;
}

/** One connection at a time, kept alive. */
export function createClient(port: number): Client {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const open = (sent: Sent): ClientRequest => {
    const { method = "POST", path, headers = [] } = sent;
    const host = ["Host", `127.0.0.1:${port}`];
    const flat = [...host, ...headers.flat(), ...framingHeaders(sent)];
    return request({ agent, port, host: "127.0.0.1", method, path, headers: flat });
  };
  return {
    send: async (sent) => {
      const req = open(sent);
      const answer = answerTo(req);
      await writeBody(req, sent);
      return answer;
    },
    abort: async (sent) => {
      const req = open(sent);
      const body = sent.body as Uint8Array;
      req.on("error", () => {});
      await new Promise<void>((resolve) => req.write(body.subarray(0, body.byteLength / 2), () => resolve()));
      req.destroy();
      await new Promise((resolve) => req.on("close", resolve));
    },
    drip: async (sent) => {
      const req = open({ ...sent, framing: "chunked" });
      const answer = answerTo(req);
      await writeFiller(req, sent.body);
      const dripping = setInterval(() => req.write("x"), 20);
      req.on("close", () => clearInterval(dripping));
      return answer.finally(() => req.destroy());
    },
    close: () => agent.destroy(),
  };
}

function framingHeaders({ body, framing = "length" }: Sent): string[] {
  if (framing !== "length") return ["Transfer-Encoding", "chunked"];
  if (body === undefined) return [];
  return ["Content-Length", String(typeof body === "number" ? body : body.byteLength)];
}

/** An answer may come, and the connection end, before all is sent: what fails after it is of no account. */
function answerTo(req: ClientRequest): Promise<Answered> {
  return new Promise((resolve, reject) => {
    req.on("error", reject);
    req.on("response", (res) => {
      const chunks: Buffer[] = [];
      res.on("data", (chunk: Buffer) => chunks.push(chunk));
      res.on("error", reject);
      res.on("end", () => {
        const { statusCode: status = 0, headers } = res;
        resolve({ status, headers, text: Buffer.concat(chunks).toString(), reused: req.reusedSocket });
      });
    });
  });
}

const fillerChunk = Buffer.alloc(65_536, "x");

async function writeBody(req: ClientRequest, { body, framing }: Sent): Promise<void> {
  if (typeof body === "number") await writeFiller(req, body);
  else if (framing === "bytewise") for (const byte of body ?? []) req.write(Buffer.of(byte));
  else if (body !== undefined) req.write(body);
  req.end();
}

/** Stops when nobody takes any more. */
async function writeFiller(req: ClientRequest, bytes: number): Promise<void> {
  const closing = new Promise((resolve) => req.on("close", resolve));
  for (let left = bytes; left > 0 && !req.closed; left -= fillerChunk.byteLength)
    if (!req.write(fillerChunk.subarray(0, left))) await Promise.race([once(req, "drain"), closing]);
}
