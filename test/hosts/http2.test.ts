import { once } from "node:events";
import {
  connect,
  createServer,
  type ClientHttp2Session,
  type ClientHttp2Stream,
  type Http2Server,
} from "node:http2";
import type { AddressInfo } from "node:net";
import { createAdaptorServer } from "@hono/node-server";
import { Hono } from "hono";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { honoWebhook } from "../../adapters/hono.ts";
import { nodeWebhook } from "../../adapters/node.ts";
import type { Mirror } from "../../src/index.ts";
import { delivery, fixtureDelivery } from "../support/delivery.ts";
import { openMirror } from "../support/mirror.ts";

const hono = (mirror: Mirror): Http2Server => {
  const { fetch } = new Hono().all("/", honoWebhook(mirror));
  return createAdaptorServer({ fetch, createServer }) as Http2Server;
};
const wellFormed = { "x-service-signature": "0".repeat(64) };

async function answerOf(stream: ClientHttp2Stream): Promise<string> {
  const [headers] = (await once(stream, "response")) as [Record<string, unknown>];
  let text = "";
  for await (const chunk of stream) text += String(chunk);
  expect(headers["connection"]).toBeUndefined();
  return `${String(headers[":status"])} ${text === "" ? "" : (JSON.parse(text) as { outcome: string }).outcome}`;
}

/** Writes for as long as the other side lets it. */
function drip(stream: ClientHttp2Stream, bytes: number): void {
  const timer = setInterval(() => stream.write(Buffer.alloc(bytes)), 5);
  stream.on("close", () => clearInterval(timer));
}

async function ended(stream: ClientHttp2Stream): Promise<void> {
  if (!stream.closed) await once(stream, "close");
}

describe.each([
  ["node", (mirror: Mirror) => createServer((req, res) => void nodeWebhook(mirror)(req, res))],
  ["hono", hono],
])("HTTP/2: %s", (_name, open) => {
  let mirror: Mirror;
  let server: Http2Server;
  let session: ClientHttp2Session;
  const warn = vi.spyOn(process, "emitWarning");

  beforeEach(async () => {
    mirror = await openMirror({ webhook: { maxBodyBytes: 50_000 }, intake: { bodyTimeoutMs: 300 } });
    await mirror.receive(delivery("webhook.test", { id: "proof" }));
    server = open(mirror);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    session = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  });
  afterEach(async () => {
    expect(await post("V1")).toBe("200 applied");
    expect(warn).not.toHaveBeenCalled();
    session.close();
    await new Promise<void>((resolve) => server.close(() => resolve()));
  });

  const begin = (headers: object, method = "POST"): ClientHttp2Stream => {
    const stream = session.request({ ":method": method, ":path": "/", ...headers });
    stream.on("error", () => {});
    return stream;
  };

  function post(name: string): Promise<string> {
    const { headers, body } = fixtureDelivery(name);
    const stream = begin(headers);
    stream.end(body);
    return answerOf(stream);
  }

  it("applies a delivery, one that comes byte by byte too", async () => {
    const { headers, body } = fixtureDelivery("V2");
    const stream = begin(headers);
    for (const byte of body) stream.write(Buffer.of(byte));
    stream.end();
    expect(await answerOf(stream)).toBe("200 applied");
  });

  it("answers 413 what is over the limit, by its length or by what has come", async () => {
    const declared = begin({ ...wellFormed, "content-length": "100000" });
    declared.end(Buffer.alloc(100_000));
    expect(await answerOf(declared)).toBe("413 rejected");
    const undeclared = begin(wellFormed);
    undeclared.end(Buffer.alloc(100_000));
    expect(await answerOf(undeclared)).toBe("413 rejected");
  });

  it("answers what has no signature before its body has come, and ends the stream", async () => {
    const stream = begin({});
    drip(stream, 1000);
    expect(await answerOf(stream)).toBe("401 rejected");
    await ended(stream);
  });

  it("answers 405 to other methods, and ends the stream", async () => {
    const stream = begin({}, "PUT");
    drip(stream, 1000);
    expect(await answerOf(stream)).toBe("405 rejected");
    await ended(stream);
    const head = begin({}, "HEAD");
    head.end();
    expect(await answerOf(head)).toBe("405 ");
  });

  it.each([1, 10_000])(
    "answers a body that never ends, %d bytes at a time, and ends the stream",
    async (bytes) => {
      const stream = begin(wellFormed);
      drip(stream, bytes);
      expect(await answerOf(stream)).toBe(bytes === 1 ? "503 failed" : "413 rejected");
      await ended(stream);
    },
  );
});
