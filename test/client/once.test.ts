import { createServer as createTlsServer } from "node:https";
import { readFileSync } from "node:fs";
import { createServer } from "node:net";
import { describe, expect, it } from "vitest";
import { isEscrowApiError } from "../../src/client.ts";
import {
  contract,
  created,
  envelope,
  listen,
  openClient,
  read,
  rejection,
  startWire,
  token,
} from "./support.ts";
import type { Behaviour } from "./support.ts";

/** A POST that moves money leaves the client once, unless it is certain that the service did nothing. */

const answerOf = (body: unknown, close = ""): string => {
  const text = JSON.stringify(body);
  return `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n${close}Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`;
};
const success = answerOf(envelope(created).body);
const afterRequest =
  (act: Behaviour): Behaviour =>
  (socket, on, heard) => {
    if (on === "data" && heard > 0) act(socket, on, heard);
  };

/** Each is one place at which a connection breaks. */
const cuts: readonly (readonly [string, Behaviour])[] = [
  ["as soon as it is made", (socket, on) => void (on === "connected" && socket.destroy())],
  ["by a reset as soon as it is made", (socket, on) => void (on === "connected" && socket.resetAndDestroy())],
  ["within the request", (socket, on) => void (on === "data" && socket.destroy())],
  ["by a reset within the request", (socket, on) => void (on === "data" && socket.resetAndDestroy())],
  ["after the request", afterRequest((socket) => socket.destroy())],
  ["by a reset after the request", afterRequest((socket) => socket.resetAndDestroy())],
  ["within the answer's head", afterRequest((socket) => socket.end("HTTP/1.1 200 OK\r\nContent-Le"))],
  ["within the answer's body", afterRequest((socket) => socket.end(success.slice(0, -20)))],
  [
    "within a chunked answer",
    afterRequest((socket) => socket.end('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n40\r\n{"data')),
  ],
  ["by an answer that is no HTTP", afterRequest((socket) => socket.end("SSH-2.0-OpenSSH_9.2\r\n"))],
];

/** Long enough to need several packets. */
const long = "x".repeat(2_000_000);

describe("a connection that breaks", () => {
  it.each(cuts)("%s leaves a create outcome-unknown, and it is not sent again", async (_, cut) => {
    const wire = await startWire(cut);
    // Where the other side closes at once, the platform writes on until the time is over.
    const client = openClient(wire.url, { timeoutMs: 2_000 });
    const error = await rejection(client.contracts.create({ ...contract, description: long }));
    expect(error).toMatchObject({ name: "EscrowApiError", code: "outcome-unknown", retryable: false });
    expect(error.message).toContain('contract.created with the reference "order-77"');
    expect(wire.connections()).toBe(1);
    expect(wire.text().split("POST /apps/api/contracts").length - 1).toBeLessThanOrEqual(1);
  });

  it.each(cuts)("%s leaves a refund outcome-unknown, and it is not sent again", async (_, cut) => {
    const wire = await startWire(cut);
    const error = await rejection(openClient(wire.url).contracts.refund("CNT-1", { reason: "x" }));
    expect(error).toMatchObject({ code: "outcome-unknown", retryable: false });
    expect(error.message).toContain('contracts.get("CNT-1")');
    expect(wire.connections()).toBe(1);
  });

  it.each(cuts)("%s makes a read go out again", async (_, cut) => {
    const wire = await startWire(cut);
    const error = await rejection(openClient(wire.url).contracts.get("CNT-1"));
    expect(error).toMatchObject({ code: "unreachable", retryable: true });
    expect(wire.connections()).toBe(3);
  });
});

/** Answers the first request, and closes on the second once that has come whole. */
const closesOnSecond: Behaviour = (socket, on, heard) => {
  if (on === "data" && heard === 1) socket.write(answerOf(envelope(read).body));
  if (on === "data" && heard === 2) socket.destroy();
};

describe("a socket that is used again", () => {
  it("and closed by the service may have delivered: the create is not sent again", async () => {
    const wire = await startWire(closesOnSecond);
    const client = openClient(wire.url);
    await client.contracts.get("CNT-1");
    await idleSocket();
    const error = await rejection(client.contracts.create(contract));
    expect(error).toMatchObject({ code: "outcome-unknown" });
    expect([wire.connections(), wire.requests()]).toEqual([1, 2]);
  });

  it("and closed by the service makes a read go out on a new one", async () => {
    const wire = await startWire((socket, on, heard) => {
      if (on === "data" && wire.connections() === 1) closesOnSecond(socket, on, heard);
      else if (on === "data" && heard > 0) socket.write(answerOf(envelope(read).body));
    });
    const client = openClient(wire.url);
    await client.contracts.get("CNT-1");
    await idleSocket();
    expect(await client.contracts.get("CNT-1")).toEqual(read);
    expect([wire.connections(), wire.requests()]).toEqual([2, 3]);
  });
});

describe("a request of which nothing was sent", () => {
  it("for a refused connection goes out again, and is then done once", async () => {
    const server = createServer();
    const url = await listen(server);
    await new Promise((resolve) => server.close(resolve));
    const wire = await startWire(afterRequest((socket) => void socket.end(success)));
    let attempts = 0;
    // The second attempt finds the service up.
    const fetch = (input: string, init: RequestInit) =>
      globalThis.fetch(attempts++ === 0 ? input : input.replace(url, wire.url), init);
    const client = openClient(url, { fetch });
    expect(await client.contracts.create(contract)).toEqual(created);
    expect([attempts, wire.requests()]).toEqual([2, 1]);
  });

  it.each([
    ["a refused connection", async () => unusedUrl("http")],
    ["a name that is not found", async () => "http://service.invalid"],
    ["a certificate that is not trusted", startSelfSigned],
    ["a service that speaks no TLS", async () => (await startPlain()).replace("http:", "https:")],
  ])("for %s is unreachable, not outcome-unknown", async (_, start) => {
    let attempts = 0;
    const fetch = (input: string, init: RequestInit) => globalThis.fetch(input, (attempts++, init));
    const client = openClient(await start(), { fetch });
    const error = await rejection(client.contracts.create(contract));
    expect(error).toMatchObject({ code: "unreachable", retryable: true, status: null });
    expect(attempts).toBe(3);
  });

  it("as the token endpoint is down was not done", async () => {
    const wire = await startWire((socket) => void socket.destroy());
    const client = openClient(wire.url, {
      getToken: () => Promise.reject(new Error(`nothing for ${token}`)),
    });
    const error = await rejection(client.contracts.create(contract));
    expect(error).toMatchObject({
      code: "no-token",
      message: "getToken rejected (Error). Nothing was sent.",
    });
    expect(wire.connections()).toBe(0);
  });
});

describe("a service that does not answer", () => {
  it("leaves a create outcome-unknown", async () => {
    const wire = await startWire(() => undefined);
    const error = await rejection(openClient(wire.url, { timeoutMs: 50 }).contracts.create(contract));
    expect(error).toMatchObject({ code: "outcome-unknown", retryable: false });
    expect(wire.connections()).toBe(1);
  });

  it("makes a read time out, after its repeats", async () => {
    const wire = await startWire(() => undefined);
    const error = await rejection(openClient(wire.url, { timeoutMs: 50 }).contracts.get("CNT-1"));
    expect(error).toMatchObject({ code: "timeout", retryable: true });
    expect(wire.requests()).toBe(3);
  });

  it("within the body leaves a create outcome-unknown, and makes a read time out", async () => {
    const wire = await startWire(afterRequest((socket) => void socket.write(success.slice(0, -20))));
    const client = openClient(wire.url, { timeoutMs: 100, retries: 0 });
    expect(await rejection(client.contracts.create(contract))).toMatchObject({
      code: "outcome-unknown",
      status: 200,
    });
    expect(await rejection(client.contracts.get("CNT-1"))).toMatchObject({ code: "timeout", status: 200 });
  });

  it("for a fetch that heeds no signal ends all the same", async () => {
    const client = openClient("http://127.0.0.1:9", {
      timeoutMs: 20,
      retries: 0,
      fetch: () => new Promise(() => {}),
    });
    expect(await rejection(client.contracts.get("CNT-1"))).toMatchObject({ code: "timeout" });
    expect(await rejection(client.contracts.create(contract))).toMatchObject({ code: "outcome-unknown" });
  });
});

describe("a caller who aborts", () => {
  it("before the call sends nothing", async () => {
    const wire = await startWire(() => undefined);
    const options = { signal: AbortSignal.abort() };
    expect(await rejection(openClient(wire.url).contracts.create(contract, options))).toMatchObject({
      code: "aborted",
    });
    expect(wire.connections()).toBe(0);
  });

  it("while a create is under way learns outcome-unknown, and of a read aborted", async () => {
    const abort = { now: () => undefined as void };
    const wire = await startWire(afterRequest(() => abort.now()));
    const client = openClient(wire.url);
    const withSignal = () => {
      const controller = new AbortController();
      abort.now = () => controller.abort();
      return { signal: controller.signal };
    };
    expect(await rejection(client.contracts.create(contract, withSignal()))).toMatchObject({
      code: "outcome-unknown",
    });
    expect(await rejection(client.contracts.get("CNT-1", withSignal()))).toMatchObject({ code: "aborted" });
    expect(wire.requests()).toBe(2);
  });
});

const refuse = (): never => {
  throw "no error at all";
};

it("nothing but an EscrowApiError comes out of a call", async () => {
  const error = await rejection(
    openClient("http://127.0.0.1:9", { fetch: refuse, retries: 0 }).contracts.get("CNT-1"),
  );
  expect(isEscrowApiError(error, "unreachable")).toBe(true);
});

/** After an answer the platform takes a moment until it uses the socket again. */
async function idleSocket(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 20));
}

async function unusedUrl(scheme: string): Promise<string> {
  const server = createServer();
  const url = await listen(server);
  await new Promise((resolve) => server.close(resolve));
  return url.replace("http", scheme);
}

async function startSelfSigned(): Promise<string> {
  const pem = readFileSync(new URL("../fixtures/self-signed.pem", import.meta.url), "utf8");
  const url = await listen(
    createTlsServer({ key: pem, cert: pem }, (_request, response) => response.end(success)),
  );
  return url.replace("http:", "https:");
}

async function startPlain(): Promise<string> {
  return (await startWire((socket, on) => void (on === "data" && socket.end(success)))).url;
}
