/** Stands between a client and the sandbox's API, and spoils what it is told to. */
import { once } from "node:events";
import { createServer, request as ask, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";
import { createClient, type Client } from "../../src/client.ts";
import type { Sandbox } from "../../src/sandbox.ts";

export interface Gate {
  /** Where it listens. */
  readonly url: string;
  /** A client whose calls go through here. */
  readonly clientOf: (sandbox: Sandbox) => Client;
  /** `GET /contracts/CNT-1` of each request that came. */
  readonly heard: string[];
  /** Every token that came. */
  readonly tokens: Set<string>;
  /** Answers of those requests that it gives an answer for. */
  spoil: (request: string) => Spoil | undefined;
}

/** Answers in the service's place, or changes its answer. */
export type Spoil = (response: ServerResponse, forward: () => Promise<Answer>) => unknown;

export interface Answer {
  readonly status: number;
  readonly headers: Record<string, string | string[] | undefined>;
  readonly body: Buffer;
}

export async function openGate(): Promise<Gate> {
  let target = "";
  const server = createServer((request, response) => void handle(request, response));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const gate: Gate = {
    url,
    heard: [],
    tokens: new Set(),
    spoil: () => undefined,
    clientOf: ({ baseUrl, authUrl, clientId, clientSecret }) => {
      target = baseUrl;
      return createClient({ baseUrl: url, authUrl, clientId, clientSecret, retries: 1, backoffMs: 1 });
    },
  };
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readAll(request);
    const name = `${request.method} ${request.url}`;
    gate.heard.push(name);
    gate.tokens.add(request.headers.authorization ?? "none");
    const forward = () => send(target, request, body);
    const spoil = gate.spoil(name) ?? passOn;
    await spoil(response, forward);
  }
  return gate;
}

/** Gives the service's answer, with some headers changed. */
export async function passOn(
  response: ServerResponse,
  forward: () => Promise<Answer>,
  change: Record<string, string> = {},
): Promise<void> {
  const { status, headers, body } = await forward();
  response.writeHead(status, { ...headers, ...change });
  response.end(body);
}

async function send(
  target: string,
  { method, url, headers }: IncomingMessage,
  body: Buffer,
): Promise<Answer> {
  const { host: _, connection: __, ...kept } = headers;
  const sending = ask(`${target}${url}`, { method, headers: kept, agent: false });
  sending.end(body);
  const [answer] = (await once(sending, "response")) as [IncomingMessage];
  const { "transfer-encoding": ___, connection: ____, ...given } = answer.headers;
  return { status: answer.statusCode ?? 0, headers: given, body: await readAll(answer) };
}

async function readAll(stream: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks);
}
