import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { gzipSync } from "node:zlib";
import type { ErrorRequestHandler, Express, RequestHandler } from "express";
import type { FastifyServerOptions } from "fastify";
import rawBody from "fastify-raw-body";
import { Hono, type MiddlewareHandler } from "hono";
import { bodyLimit } from "hono/body-limit";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { expressWebhook } from "../../adapters/express.ts";
import { fastifyWebhook } from "../../adapters/fastify.ts";
import { fetchWebhook } from "../../adapters/fetch.ts";
import { honoWebhook } from "../../adapters/hono.ts";
import { nodeWebhook } from "../../adapters/node.ts";
import type { Mirror, ReceiveRequest } from "../../src/index.ts";
import { delivery, fixtureDelivery, otherSecret, signed } from "../support/delivery.ts";
import { openMirror, recordingLogger, type RecordingLogger } from "../support/mirror.ts";
import { createClient } from "./client.ts";
import { expressPackages, fastifyPackages, listen, startHono, type RunningHost } from "./hosts.ts";

let mirror: Mirror;
let logger: RecordingLogger;
const running: RunningHost[] = [];

beforeEach(async () => {
  logger = recordingLogger();
  mirror = await openMirror({ logger });
  // Whatever is answered 401 from here on is taken for forged.
  await mirror.receive(delivery("webhook.test", { id: "proof" }));
});
afterEach(async () => {
  await Promise.all(running.splice(0).map((host) => host.close()));
});

/** Answers "<status> <outcome>". */
async function post(host: RunningHost, request: ReceiveRequest, path = "/escrow"): Promise<string> {
  if (!running.includes(host)) running.push(host);
  const client = createClient(host.port);
  const headers = [["Content-Type", "application/json"], ...Object.entries(request.headers)] as [
    string,
    string,
  ][];
  const answered = await client.send({ path, headers: dedupe(headers), body: request.body as Uint8Array });
  client.close();
  return `${answered.status} ${(JSON.parse(answered.text) as { outcome?: string }).outcome}`;
}

function dedupe(headers: [string, string][]): [string, string][] {
  return [...new Map(headers.map(([name, value]) => [name.toLowerCase(), value]))];
}

const said = (): string =>
  logger.lines
    .filter(({ level }) => level === "error")
    .map(({ message }) => message)
    .join("\n");
const samples = ["V1", "V2", "V3", "V4"].map((name) => [name] as const);

const answerFirst: RequestHandler = (_req, res, next) => {
  res.status(202).end('{"outcome":"theirs"}');
  next();
};

describe.each(expressPackages)("%s, behind a parser", (_name, express) => {
  const failure = vi.fn();
  const onError: ErrorRequestHandler = (error, _req, res, _next) => {
    failure(error);
    res.status(500).end("{}");
  };
  const start = (...before: RequestHandler[]): Promise<RunningHost> => {
    const app: Express = express();
    if (before.length > 0) app.use(...before);
    app.all("/escrow", expressWebhook(mirror));
    app.use(onError);
    return listen(createServer(app));
  };
  afterEach(() => {
    expect(failure).not.toHaveBeenCalled();
  });
  const keeping = () =>
    express.json({
      verify: (req, _res, bytes) => {
        Object.assign(req, { rawBody: bytes });
      },
    });

  it.each(samples)("json() has consumed %s: 500, and the log says which line to move", async (name) => {
    expect(await post(await start(express.json()), fixtureDelivery(name))).toBe("500 failed");
    expect(said()).toContain("move app.all(path, expressWebhook(mirror)) above app.use(express.json())");
    expect(await mirror.deliveries.get(`wh-${name}`)).toBeUndefined();
  });

  it.each(samples)("json() has kept the bytes of %s: applied", async (name) => {
    expect(await post(await start(keeping()), fixtureDelivery(name))).toBe("200 applied");
  });

  it("json() has kept bytes that are not UTF-8: quarantined as on every host", async () => {
    expect(await post(await start(keeping()), fixtureDelivery("V5"))).toBe("200 quarantined");
  });

  it("json() has kept inflated bytes of a compressed body: 500, not taken for forged", async () => {
    const request = signed(gzipSync(fixtureDelivery("V1").body), { headers: { "Content-Encoding": "gzip" } });
    expect(await post(await start(keeping()), request)).toBe("500 failed");
  });

  it("text() has kept the text: applied, or 500 where it has changed it", async () => {
    const host = await start(express.text({ type: "*/*" }));
    expect(await post(host, fixtureDelivery("V4"))).toBe("200 applied");
    expect(await post(host, fixtureDelivery("V5"))).toBe("500 failed");
    const marked = signed(Buffer.concat([Buffer.of(0xef, 0xbb, 0xbf), fixtureDelivery("V1").body]));
    expect(await post(host, marked)).toBe("500 failed");
  });

  it.each(samples)("raw() has kept %s: applied", async (name) => {
    expect(await post(await start(express.raw({ type: "*/*" })), fixtureDelivery(name))).toBe("200 applied");
  });

  it("raw() of another type leaves the stream unread: applied", async () => {
    const host = await start(express.raw({ type: "image/png" }), express.json({ type: "text/json" }));
    expect(await post(host, fixtureDelivery("V1"))).toBe("200 applied");
  });

  it.each([
    ["unsigned", { method: "POST", headers: {}, body: Buffer.alloc(0) }, "401 rejected"],
    ["signed", fixtureDelivery("V11"), "200 quarantined"],
  ] as const)(
    "json() made something of an empty body, %s: it is still empty",
    async (_how, request, answer) => {
      expect(await post(await start(express.json()), request)).toBe(answer);
    },
  );

  it.each([[undefined], [""], [Buffer.alloc(0)], [{ a: 1 }]])(
    "a hook that kept %o has kept nothing",
    async (kept) => {
      const spoil: RequestHandler = (req, _res, next) => {
        Object.assign(req, { rawBody: kept, body: kept });
        next();
      };
      expect(await post(await start(express.json(), spoil), fixtureDelivery("V1"))).toBe("500 failed");
    },
  );

  it("a middleware that answered first is not answered over", async () => {
    expect(await post(await start(answerFirst), fixtureDelivery("V1"))).toBe("202 theirs");
  });
});

/** Fastify 5 moves the option below `routerOptions`. */
function ignoring(name: string): FastifyServerOptions[] {
  const options = { ignoreTrailingSlash: true };
  return [name === "fastify 4" ? options : { routerOptions: options }];
}

describe.each(fastifyPackages)("%s", (name, fastify) => {
  const start = async (app: ReturnType<typeof fastify>): Promise<RunningHost> => {
    await app.ready();
    await app.listen({ port: 0, host: "127.0.0.1" });
    return { port: (app.server.address() as AddressInfo).port, close: () => app.close() };
  };

  it("mounts two mirrors beside a JSON parser of the app's own, each with its own secret", async () => {
    const other = await openMirror({ webhook: { secrets: otherSecret } });
    const app = fastify();
    app.addContentTypeParser("*", (_request, _payload, done) => done(null, "the app's own"));
    app.removeContentTypeParser("application/json");
    app.addContentTypeParser("application/json", { parseAs: "string" }, (_request, text, done) =>
      done(null, { text }),
    );
    await app.register(fastifyWebhook, { mirror, path: "/escrow" });
    await app.register(
      async (nested) => {
        await nested.register(fastifyWebhook, { mirror: other, path: "/escrow/" });
      },
      { prefix: "/other" },
    );
    app.post("/echo", async (request) => ({ outcome: JSON.stringify(request.body) }));
    const host = await start(app);
    expect(await post(host, fixtureDelivery("V1"))).toBe("200 applied");
    expect(await post(host, fixtureDelivery("V1"), "/escrow/")).toBe("200 duplicate");
    expect(await post(host, fixtureDelivery("V1"), "/other/escrow")).toBe("503 failed");
    expect(await post(host, delivery("webhook.test", {}, { secret: otherSecret }), "/other/escrow")).toBe(
      "200 applied",
    );
    expect(await post(host, signed("[1]"), "/echo")).toBe('200 {"text":"[1]"}');
  });

  it.each(ignoring(name))("mounts on an app that ignores the slash at its end: %o", async (options) => {
    const app = fastify(options);
    await app.register(fastifyWebhook, { mirror, path: "/escrow" });
    const host = await start(app);
    expect(await post(host, fixtureDelivery("V1"), "/escrow/")).toBe("200 applied");
  });

  it("says what to change where a hook has read the request, and takes the bytes that it kept", async () => {
    const app = fastify();
    app.addHook("onRequest", async (request) => {
      const chunks = await request.raw.toArray();
      if (request.headers["x-keep"] === "yes")
        Object.assign(request, { rawBody: Buffer.concat(chunks as Buffer[]) });
    });
    await app.register(fastifyWebhook, { mirror, path: "/escrow" });
    const host = await start(app);
    const request = fixtureDelivery("V1");
    expect(await post(host, request)).toBe("500 failed");
    expect(said()).toContain("leave the webhook's path out of it");
    const keeping = { ...request, headers: Object.assign({ "x-keep": "yes" }, request.headers) };
    expect(await post(host, keeping)).toBe("200 applied");
  });

  it("answers an injected request", async () => {
    const app = fastify();
    await app.register(fastifyWebhook, { mirror, path: "/escrow" });
    const { headers, body } = fixtureDelivery("V1");
    const answered = await app.inject({ method: "POST", url: "/escrow", headers, payload: body as Buffer });
    expect(answered.json()).toEqual({ outcome: "applied", webhookId: "wh-V1" });
    await app.close();
  });
});

describe("fastify 5 with fastify-raw-body", () => {
  const orders = ["before", "after"] as const;
  it.each(orders.flatMap((order) => [true, false].map((runFirst) => [order, runFirst] as const)))(
    "applies, with it registered %s the webhook, runFirst: %s",
    async (order, runFirst) => {
      const app = fastifyPackages[1]?.[1]();
      if (app === undefined) throw new Error("no fastify");
      const keep = () => app.register(rawBody, { global: true, runFirst, encoding: false });
      if (order === "before") await keep();
      await app.register(fastifyWebhook, { mirror, path: "/escrow" });
      if (order === "after") await keep();
      await app.listen({ port: 0, host: "127.0.0.1" });
      const host = { port: (app.server.address() as AddressInfo).port, close: () => app.close() };
      expect(await post(host, fixtureDelivery("V5"))).toBe("200 quarantined");
    },
  );
});

function reading(read: (c: Parameters<MiddlewareHandler>[0]) => Promise<unknown>): MiddlewareHandler {
  return async (c, next) => {
    await read(c);
    await next();
  };
}

function startBehind(middleware: MiddlewareHandler): Promise<RunningHost> {
  const app = new Hono().use(middleware);
  app.all("/escrow", honoWebhook(mirror));
  return startHono(app);
}

describe("hono, behind a middleware that reads the body", () => {
  it.each([
    ["c.req.json()", reading((c) => c.req.json())],
    ["c.req.text()", reading((c) => c.req.text())],
    ["c.req.arrayBuffer()", reading((c) => c.req.arrayBuffer())],
    ["bodyLimit()", bodyLimit({ maxSize: 1_000_000 })],
    ["a clone", reading((c) => c.req.raw.clone().json())],
  ])("%s leaves the bytes: applied", async (_how, middleware) => {
    const host = await startBehind(middleware);
    for (const [name] of samples) expect(await post(host, fixtureDelivery(name))).toBe("200 applied");
  });

  it.each([
    ["c.req.raw.json()", reading((c) => c.req.raw.json())],
    ["c.req.raw.arrayBuffer()", reading((c) => c.req.raw.arrayBuffer())],
    ["c.req.blob()", reading((c) => c.req.blob())],
  ])("%s leaves nothing: 500, and the log says what to change", async (_how, middleware) => {
    expect(await post(await startBehind(middleware), fixtureDelivery("V2"))).toBe("500 failed");
    expect(said()).toContain("Hono: mount app.all(path, honoWebhook(mirror)) above");
  });

  it("c.req.text() has changed what is not UTF-8: 500, not taken for forged", async () => {
    const host = await startBehind(reading((c) => c.req.text()));
    expect(await post(host, fixtureDelivery("V5"))).toBe("500 failed");
  });

  it("without Node's own request, reads the body of the Request", async () => {
    const app = new Hono().all("/escrow", honoWebhook(mirror));
    const { headers, body } = fixtureDelivery("V1");
    const answered = await app.request("/escrow", { method: "POST", headers, body });
    expect(await answered.json()).toEqual({ outcome: "applied", webhookId: "wh-V1" });
  });
});

function webRequest(): Request {
  const { headers, body } = fixtureDelivery("V1");
  return new Request("http://localhost/escrow", { method: "POST", headers, body });
}

/** Some runtimes and middleware make streams of text. */
async function answerToText({ headers, body: bytes }: ReceiveRequest): Promise<number> {
  const body = new ReadableStream({
    start: (controller) => {
      controller.enqueue(Buffer.from(bytes as Uint8Array).toString());
      controller.close();
    },
  });
  const init = {
    method: "POST",
    headers: new Headers(Object.entries(headers)),
    body,
    duplex: "half" as const,
  };
  return (await fetchWebhook(mirror)(new Request("http://localhost/escrow", init))).status;
}

describe("fetch", () => {
  it("answers 500 where the body was read, and the log says what to change", async () => {
    const read = webRequest();
    await read.json();
    expect((await fetchWebhook(mirror)(read)).status).toBe(500);
    expect(said()).toContain("fetchWebhook(mirror)(request.clone())");
  });

  it("takes a clone of a request that is read elsewhere", async () => {
    const original = webRequest();
    const answered = fetchWebhook(mirror)(original.clone());
    await original.json();
    expect((await answered).status).toBe(200);
  });

  it("answers 500, not 401, where a stream of text lost bytes, and applies where it did not", async () => {
    expect(await answerToText(fixtureDelivery("V5"))).toBe(500);
    expect(await answerToText(fixtureDelivery("V2"))).toBe(200);
  });

  it("stores nothing where the body breaks off, and has it sent again", async () => {
    const body = new ReadableStream({
      start(controller) {
        controller.enqueue(fixtureDelivery("V1").body.subarray(0, 100));
        controller.error(new Error("gone"));
      },
    });
    const { headers } = fixtureDelivery("V1");
    const broken = new Request("http://localhost/", { method: "POST", headers, body, duplex: "half" });
    expect((await fetchWebhook(mirror)(broken)).status).toBe(503);
  });
});

/** A server that reads the request before the webhook does. */
function startReading(keep: boolean): Promise<RunningHost> {
  const webhook = nodeWebhook(mirror);
  const server = createServer((req, res) => {
    void req.toArray().then((chunks) => {
      if (keep) Object.assign(req, { rawBody: Buffer.concat(chunks as Buffer[]) });
      return webhook(req, res);
    });
  });
  return listen(server);
}

describe("node", () => {
  it("answers 500 where the stream was read, and the log says what to change", async () => {
    expect(await post(await startReading(false), fixtureDelivery("V2"))).toBe("500 failed");
    expect(said()).toContain("node:http: call nodeWebhook(mirror)(req, res) before anything reads req");
  });

  it("takes the bytes that were kept", async () => {
    expect(await post(await startReading(true), fixtureDelivery("V2"))).toBe("200 applied");
  });

  it.each([
    ["Buffer", (body: Buffer) => body],
    ["text", (body: Buffer) => body.toString()],
  ])("takes a %s that a cloud function hands over as the body", async (_kind, toBody) => {
    const { headers, body } = fixtureDelivery("V1");
    const req = Object.assign(Readable.from([]), { method: "POST", headers, body: toBody(body as Buffer) });
    const answered = await new Promise<string>((resolve) => {
      const res = {
        headersSent: false,
        writeHead: () => {},
        write: () => {},
        destroy: () => {},
        end: (chunk = "") => resolve(chunk),
      };
      void nodeWebhook(mirror)(req, res);
    });
    expect(JSON.parse(answered)).toEqual({ outcome: "applied", webhookId: "wh-V1" });
  });
});
