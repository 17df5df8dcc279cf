/** Whatever a host has done to a body before the webhook gets it: an answer within bounds, and a line in the log where it is no good one. */
import { createServer, type IncomingMessage } from "node:http";
import { PassThrough, Readable } from "node:stream";
import { createGunzip, gzipSync } from "node:zlib";
import type { HttpBindings } from "@hono/node-server";
import { Hono, type Context } from "hono";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { expressWebhook } from "../../adapters/express.ts";
import { fastifyWebhook } from "../../adapters/fastify.ts";
import { fetchWebhook } from "../../adapters/fetch.ts";
import { honoWebhook } from "../../adapters/hono.ts";
import { nodeWebhook } from "../../adapters/node.ts";
import type { Mirror, ReceiveRequest } from "../../src/index.ts";
import { delivery, eventBody, signed } from "../support/delivery.ts";
import { openMirror, recordingLogger, type RecordingLogger } from "../support/mirror.ts";
import { createClient, type HeaderPairs } from "./client.ts";
import { expressPackages, fastifyPackages, listen, startHono, type RunningHost } from "./hosts.ts";

let mirror: Mirror;
let logger: RecordingLogger;
const running: RunningHost[] = [];

beforeEach(async () => {
  logger = recordingLogger();
  mirror = await openMirror({ logger, intake: { bodyTimeoutMs: 500 } });
  await mirror.receive(delivery("webhook.test", { id: "proof" }));
});
afterEach(async () => {
  await Promise.all(running.splice(0).map((host) => host.close()));
});

const order = delivery("contract.created", { id: "p-1", seconds: 0 }, { webhookId: "wh-1" });
const large = signed(eventBody("contract.created", { description: "x".repeat(300_000) }), {
  webhookId: "wh-1",
});
const errors = (): string[] =>
  logger.lines.filter(({ level }) => level === "error").map(({ message }) => message);

async function post(host: RunningHost, { headers, body }: ReceiveRequest = order): Promise<number> {
  running.push(host);
  const client = createClient(host.port);
  const pairs = Object.entries(headers) as unknown as HeaderPairs;
  try {
    const { status } = await client.send({ path: "/escrow", headers: pairs, body: body as Buffer });
    return status;
  } finally {
    client.close();
  }
}

/** 200 is for what is stored. */
async function expectStored(status: number): Promise<void> {
  expect((await mirror.deliveries.get("wh-1")) !== undefined).toBe(status === 200);
}

type Touch = (req: IncomingMessage) => unknown;

/** What was done to Node's request, and the answer. */
const touches: readonly (readonly [string, Touch, number])[] = [
  ["paused", (req) => req.pause(), 200],
  ["paused, and paused again meanwhile", (req) => void (req.pause(), setTimeout(() => req.pause(), 1)), 200],
  ["made to flow this very moment", (req) => req.resume(), 200],
  ["heard by another", (req) => req.on("data", () => {}), 200],
  ["heard by another who pauses it at each piece", (req) => req.on("data", () => req.pause()), 200],
  ["read by another", (req) => req.toArray(), 500],
  ["thrown away by another", (req) => new Promise((resolve) => req.resume().on("end", resolve)), 500],
  ["read in part", (req) => new Promise((resolve) => req.once("data", resolve)).then(() => req.pause()), 500],
  ["waited for by a reader who never reads", (req) => req.on("readable", () => {}), 503],
];

/** At once, where there is nothing to wait for: a stream that flows would lose its bytes meanwhile. */
async function afterwards(touched: unknown, next: () => unknown): Promise<void> {
  if (touched instanceof Promise) await touched;
  next();
}

const starts: readonly (readonly [string, (touch: Touch) => Promise<RunningHost>])[] = [
  [
    "node",
    (touch) => {
      const webhook = nodeWebhook(mirror);
      return listen(createServer((req, res) => void afterwards(touch(req), () => webhook(req, res))));
    },
  ],
  ...expressPackages.map(([name, express]): (typeof starts)[0] => [
    name,
    (touch) => {
      const app = express();
      app.use((req, _res, next) => void afterwards(touch(req), next));
      app.all("/escrow", expressWebhook(mirror));
      return listen(createServer(app));
    },
  ]),
  ...fastifyPackages.map(([name, fastify]): (typeof starts)[0] => [
    name,
    async (touch) => {
      const app = fastify();
      app.addHook("onRequest", ({ raw }, _reply, done) => void afterwards(touch(raw), done));
      await app.register(fastifyWebhook, { mirror, path: "/escrow" });
      return startFastify(app);
    },
  ]),
  ["hono", (touch) => startBehind((c) => touch(c.env.incoming))],
];

describe.each(starts)("%s: a request", (_name, start) => {
  it.each(touches)("that was %s is answered", async (_how, touch, expected) => {
    for (const request of [order, large]) {
      const status = await post(await start(touch), request);
      expect(status).toBe(expected);
      await expectStored(status);
      if (status === 500) expect(errors().at(-1)).toContain("a parser consumed");
    }
  });
});

async function startFastify(app: ReturnType<(typeof fastifyPackages)[0][1]>): Promise<RunningHost> {
  await app.listen({ port: 0, host: "127.0.0.1" });
  const close = async () => {
    app.server.closeAllConnections();
    await app.close();
  };
  return { port: (app.server.address() as { port: number }).port, close };
}

function startBehind(touch: (c: Context<{ Bindings: HttpBindings }>) => unknown): Promise<RunningHost> {
  const app = new Hono<{ Bindings: HttpBindings }>().use(async (c, next) => {
    const touched = touch(c);
    if (touched instanceof Promise) await touched;
    await next();
  });
  app.all("/escrow", honoWebhook(mirror));
  return startHono(app as unknown as Hono);
}

const paused = (stream: Readable): Readable => stream.pause();
const bytes = order.body as Buffer;

/** What a hook of Fastify puts in the place of the request, and the answer. */
const payloads: readonly (readonly [string, (req: IncomingMessage) => unknown, number])[] = [
  ["a paused one", (req) => paused(req.pipe(new PassThrough())), 200],
  ["one that fails", () => failingStream(), 503],
  ["one that was destroyed", () => new PassThrough().destroy(), 503],
  ["one that failed", () => failedStream(), 503],
  ["one that never ends", () => new PassThrough(), 503],
  ["one that has ended", () => endedStream(), 500],
  ["one that has ended, with nothing in it", () => endedStream([]), 500],
  ["one of objects", () => Readable.from([{ a: 1 }]), 500],
  ["one of text", () => Readable.from([bytes.toString()]), 200],
  ["one that is none", () => "text", 200],
];

function failingStream(): Readable {
  const stream = new PassThrough();
  setTimeout(() => stream.destroy(new RangeError("no")), 20);
  return stream;
}

function failedStream(): Readable {
  const stream = new PassThrough();
  stream.on("error", () => {});
  return stream.destroy(new RangeError("no"));
}

async function endedStream(pieces: readonly Buffer[] = [bytes]): Promise<Readable> {
  const stream = Readable.from(pieces);
  await new Promise((resolve) => stream.on("end", resolve).resume());
  return stream;
}

describe.each(fastifyPackages)("%s: a stream in the place of the request", (_name, fastify) => {
  const start = async (payloadOf: (req: IncomingMessage) => unknown): Promise<RunningHost> => {
    const app = fastify();
    app.addHook("preParsing", async ({ raw }) => (await payloadOf(raw)) as Readable);
    await app.register(fastifyWebhook, { mirror, path: "/escrow" });
    return startFastify(app);
  };

  it.each(payloads)("is answered: %s", async (_what, payloadOf, expected) => {
    const status = await post(await start(payloadOf));
    expect(status).toBe(expected);
    await expectStored(status);
  });

  it("that fails by the host's own part leaves a line in the log", async () => {
    await post(await start(payloads[1]?.[1] as () => unknown));
    expect(logger.lines).toContainEqual(
      expect.objectContaining({ level: "error", fields: expect.objectContaining({ error: "RangeError" }) }),
    );
  });

  it("that inflates, paused, is answered 500: the signature is over what was sent", async () => {
    const inflating = await start((req) => paused(req.pipe(createGunzip())));
    const status = await post(
      inflating,
      signed(gzipSync(bytes), { headers: { "Content-Encoding": "gzip" } }),
    );
    expect(status).toBe(500);
    // The bytes as they came here don't verify either, which the log explains first.
    expect(errors().join("\n")).toContain("leave the webhook's path out of it");
  });
});

const webStates: readonly (readonly [string, (request: Request) => unknown, number])[] = [
  ["locked by a reader", (request) => request.body?.getReader(), 500],
  ["split in two", (request) => request.body?.tee(), 500],
  ["read", (request) => request.text(), 500],
  ["read in part, and let go", readInPart, 500],
  ["cancelled", (request) => request.body?.cancel(), 500],
  ["cloned", (request) => request.clone(), 200],
];

async function readInPart({ body }: Request): Promise<void> {
  const reader = body?.getReader();
  await reader?.read();
  reader?.releaseLock();
}

function webRequest({ headers, body }: ReceiveRequest = order): Request {
  const stream = new Blob([body as Buffer]).stream();
  const init = { method: "POST", headers: new Headers(Object.entries(headers)), body: stream };
  return new Request("http://localhost/escrow", { ...init, duplex: "half" });
}

const webHandlers: readonly (readonly [string, () => (request: Request) => Response | Promise<Response>])[] =
  [
    ["fetch", () => fetchWebhook(mirror)],
    [
      "hono",
      () => {
        const app = new Hono().all("/escrow", honoWebhook(mirror));
        return (request) => app.fetch(request);
      },
    ],
  ];

describe.each(webHandlers)("%s: a body", (_name, open) => {
  it.each(webStates)("that was %s is answered", async (_how, touch, expected) => {
    for (const request of [webRequest(), webRequest(large)]) {
      await touch(request);
      const { status } = await open()(request);
      expect(status).toBe(expected);
      await expectStored(status);
      if (status === 500) expect(errors().at(-1)).toMatch(/fetch: pass the request|Hono: mount/);
    }
  });

  it.each([
    ["fails", new RangeError("no"), true],
    ["breaks off", new DOMException("The operation was aborted", "AbortError"), false],
  ])("that %s is answered 503, with a line where it is the host's own fault", async (_how, error, isTold) => {
    const body = new ReadableStream({ pull: (controller) => controller.error(error) });
    const headers = new Headers(Object.entries(order.headers));
    const request = new Request("http://localhost/escrow", { method: "POST", headers, body, duplex: "half" });
    expect((await open()(request)).status).toBe(503);
    expect(errors()).toHaveLength(isTold ? 1 : 0);
  });
});

describe("hono on Node: a body", () => {
  it.each(webStates)("that was %s is answered within bounds", async (_how, touch) => {
    for (const request of [order, large]) {
      const status = await post(await startBehind((c) => touch(c.req.raw)), request);
      expect([200, 500]).toContain(status);
      await expectStored(status);
    }
  });
});
