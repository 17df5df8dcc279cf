import { createServer as createHttpServer } from "node:http";
import type { IncomingHttpHeaders, Server } from "node:http";
import { createServer } from "node:net";
import type { AddressInfo, Server as TcpServer, Socket } from "node:net";
import { onTestFinished } from "vitest";
import { createClient } from "../../src/client.ts";
import type { Client, ContractInput, TokenOptions } from "../../src/client.ts";

export const token = "token-SENTINEL-0a1b2c3d4e";

/** A client with a token of its own and short waits. */
export function openClient(baseUrl: string, options: Partial<TokenOptions> = {}): Client {
  return createClient({ baseUrl, getToken: async () => ({ accessToken: token }), backoffMs: 1, ...options });
}

export const contract: ContractInput = {
  title: "Website",
  contractServiceType: "Service",
  buyerParty: { phoneNumber: "+966500000001", firstName: "Alia", lastName: "Hassan" },
  sellerParty: { phoneNumber: "+966500000002", firstName: "Badr", lastName: "" },
  amount: 1000,
  reference: "order-77",
};

export const created = {
  contractId: "CNT-2601-00100003",
  status: "pending",
  checkoutUrl: "https://service.test/checkout/1?token=x",
};

export const read = { contractId: "CNT-2601-00100003", status: "escrow", milestones: [] };

export interface Heard {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** An answer, in the order of the requests; the last one is repeated. */
export interface Reply {
  readonly status?: number;
  readonly headers?: Record<string, string>;
  /** Text as it is; anything else as JSON. */
  readonly body?: unknown;
}

export interface Script {
  readonly url: string;
  readonly heard: Heard[];
}

export const envelope = (data: unknown, change: Record<string, unknown> = {}): Reply => ({
  body: { data, message: "Done.", status: 200, validationErrors: [], succeeded: true, errors: [], ...change },
});

/** A service that answers what it is told, and keeps what it heard. */
export async function startScript(
  ...replies: readonly (Reply | ((heard: Heard) => Reply))[]
): Promise<Script> {
  const heard: Heard[] = [];
  const server = createHttpServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const { method = "", url = "", headers } = request;
      const one = { method, path: url, headers, body: Buffer.concat(chunks).toString() };
      heard.push(one);
      const reply = replies[heard.length - 1] ?? replies.at(-1) ?? {};
      const { status = 200, headers: sent = {}, body } = typeof reply === "function" ? reply(one) : reply;
      response.writeHead(status, { "content-type": "application/json", ...sent });
      response.end(typeof body === "string" ? body : JSON.stringify(body));
    });
  });
  return { url: await listen(server), heard };
}

export interface Wire {
  readonly url: string;
  readonly port: number;
  /** Connections that were made. */
  connections(): number;
  /** All bytes that came, as text. */
  text(): string;
  /** How many requests came whole. */
  requests(): number;
}

/** What a connection does: `heard` tells how many whole requests it has brought so far. */
export type Behaviour = (socket: Socket, on: "connected" | "data", heard: number) => void;

/** A bare TCP server that behaves as it is told. */
export async function startWire(behave: Behaviour): Promise<Wire> {
  let connections = 0;
  let text = "";
  const server = createServer((socket) => {
    connections++;
    let own = "";
    socket.on("error", () => undefined);
    socket.on("data", (chunk: Buffer) => {
      own += chunk.toString("latin1");
      text += chunk.toString("latin1");
      behave(socket, "data", countRequests(own));
    });
    behave(socket, "connected", 0);
  });
  const url = await listen(server);
  const port = Number(new URL(url).port);
  return {
    url,
    port,
    connections: () => connections,
    text: () => text,
    requests: () => countRequests(text),
  };
}

/** Requests whose body has come to its end. */
function countRequests(text: string): number {
  let count = 0;
  for (let at = 0; ; count++) {
    const headEnd = text.indexOf("\r\n\r\n", at);
    if (headEnd === -1) return count;
    const length = Number(/content-length: (\d+)/i.exec(text.slice(at, headEnd))?.[1] ?? 0);
    at = headEnd + 4 + length;
    if (at > text.length) return count;
  }
}

export async function listen(server: Server | TcpServer): Promise<string> {
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    if ("closeAllConnections" in server) server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** What `work` rejects with. */
export async function rejection(work: Promise<unknown>): Promise<Error> {
  try {
    await work;
  } catch (error) {
    if (error instanceof Error) return error;
    throw new Error("it rejected with what is no error", { cause: error });
  }
  throw new Error("it resolved");
}
