import { createServer } from "node:http";
import type { IncomingHttpHeaders, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

import { onTestFinished } from "vitest";

import { createSandbox, manualClock } from "../../src/sandbox.ts";
import type { Sandbox, SandboxOptions } from "../../src/sandbox.ts";

/** `openSandbox` for one test. */
export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const sandbox = await openSandbox(options);
  onTestFinished(() => sandbox.close());
  return sandbox;
}

/**
 * A sandbox on a clock that stands still unless told otherwise, and with a patience that no receiver wears out
 * because the machine is busy: time would go on without it.
 */
export function openSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  return createSandbox({ clock: manualClock(), seed: 1, patienceMs: 20_000, ...options });
}

export interface Received {
  method: string;
  headers: IncomingHttpHeaders;
  rawHeaders: string[];
  bytes: Buffer;
  /** The body, parsed. */
  payload: unknown;
}

export interface Receiver {
  url: string;
  received: Received[];
  close(): void;
  events(): string[];
}

type Reply = number | ((response: ServerResponse, received: Received, count: number) => void);

/** `openReceiver` for one test. */
export async function startReceiver(reply: Reply = 200, host = "127.0.0.1"): Promise<Receiver> {
  const receiver = await openReceiver(reply, host);
  onTestFinished(() => receiver.close());
  return receiver;
}

/** A receiver of webhooks that answers with `reply` (200 unless told) and keeps what came. */
export async function openReceiver(reply: Reply = 200, host = "127.0.0.1"): Promise<Receiver> {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const bytes = Buffer.concat(chunks);
      const one = { ...pickRequest(request), bytes, payload: parse(bytes.toString()) };
      received.push(one);
      if (typeof reply === "number") response.writeHead(reply).end("answer");
      else reply(response, one, received.length);
    });
  });
  await new Promise<void>((resolve) => void server.listen(0, host, resolve));
  const close = (): void => {
    server.closeAllConnections();
    server.close();
  };
  const url = `http://localhost:${portOf(server)}/webhooks/escrow`;
  return { url, received, close, events: () => received.map(({ payload }) => String(at(payload, "event"))) };
}

function pickRequest(request: {
  method?: string | undefined;
  headers: IncomingHttpHeaders;
  rawHeaders: string[];
}) {
  return { method: request.method ?? "", headers: request.headers, rawHeaders: request.rawHeaders };
}

export function portOf(server: { address(): AddressInfo | string | null }): number {
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}

export interface Answered {
  status: number;
  headers: Headers;
  text: string;
  body: unknown;
}

export interface Api {
  token: string;
  get(path: string): Promise<Answered>;
  post(path: string, body?: unknown): Promise<Answered>;
  send(method: string, path: string, init?: RequestInit): Promise<Answered>;
}

/** A caller with a token of its own. */
export async function connect(
  sandbox: Sandbox,
  clientId = sandbox.clientId,
  secret = sandbox.clientSecret,
): Promise<Api> {
  const token = String(at((await requestToken(sandbox, clientId, secret)).body, "access_token"));
  const send = (method: string, path: string, init: RequestInit = {}): Promise<Answered> =>
    call(`${sandbox.baseUrl}${path}`, {
      method,
      ...init,
      headers: { Authorization: `Bearer ${token}`, ...toRecord(init.headers) },
    });
  return {
    token,
    send,
    get: (path) => send("GET", path),
    post: (path, body) =>
      send(
        "POST",
        path,
        body === undefined
          ? {}
          : { body: JSON.stringify(body), headers: { "Content-Type": "application/json" } },
      ),
  };
}

function toRecord(headers: RequestInit["headers"]): Record<string, string> {
  return Object.fromEntries(new Headers(headers));
}

export function requestToken(sandbox: Sandbox, clientId: string, clientSecret: string): Promise<Answered> {
  const form = new URLSearchParams({
    grant_type: "client_credentials",
    client_id: clientId,
    client_secret: clientSecret,
  });
  return call(`${sandbox.authUrl}/connect/token`, { method: "POST", body: form });
}

export async function call(url: string, init: RequestInit = {}): Promise<Answered> {
  const response = await fetch(url, { redirect: "manual", ...init });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, body: parse(text) };
}

export function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** `at(body, "data.milestones.0.id")`; undefined where there is nothing. */
export function at(value: unknown, path: string): unknown {
  let here: unknown = value;
  for (const part of path.split(".")) {
    if (typeof here !== "object" || here === null) return undefined;
    here = new Map(Object.entries(here)).get(part);
  }
  return here;
}

export const buyer = { phoneNumber: "+966500000001", firstName: "Alia", lastName: "Hassan" };
export const seller = {
  phoneNumber: "+966500000002",
  firstName: "Badr",
  lastName: "",
  KYC: {
    identity: "1012345678",
    IBANNumber: "SA0380000000608010167519",
    dateOfBirth: "1990-01-01T00:00:00Z",
  },
};
export const milestones = [
  { Name: "Design", Description: "First half", Amount: 600, DueDate: "2026-03-01T00:00:00Z" },
  { Name: "Build", Amount: 400, DueDate: "2026-04-01T00:00:00Z" },
];

export function contractBody(change: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    title: "Website",
    contractServiceType: "Product",
    BuyerParty: buyer,
    SellerParty: seller,
    amount: 1000,
    reference: "order-77",
    metaData: { metadata1: "one", metadata2: "" },
    ...change,
  };
}

export async function createContract(api: Api, change: Record<string, unknown> = {}): Promise<string> {
  const made = await api.post("/apps/api/contracts", contractBody(change));
  if (made.status !== 200) throw new Error(made.text);
  return String(at(made.body, "data.contractId"));
}

export async function refund(
  api: Api,
  contractId: string,
  change: Record<string, unknown> = {},
): Promise<Answered> {
  return api.post(`/apps/api/contracts/${contractId}/refund`, { reason: "Not as described", ...change });
}

export const isGuid = (value: unknown): boolean =>
  /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(String(value));
export const isUtc = (value: unknown): boolean =>
  /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{7}Z$/.test(String(value));
