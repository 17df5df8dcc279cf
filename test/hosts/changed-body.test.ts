/**
 * What was read before the webhook may have been changed: a genuine delivery is then applied or answered 500, which the
 * service retries, and never 401, which it does not. A forged one is never stored.
 */
import { createServer, type IncomingMessage } from "node:http";
import { PassThrough } from "node:stream";
import { createGunzip, gzipSync } from "node:zlib";
import type { HttpBindings } from "@hono/node-server";
import type express from "express";
import type { RequestHandler } from "express";
import { Hono, type MiddlewareHandler } from "hono";
import { afterEach, describe, expect, it } from "vitest";
import { expressWebhook } from "../../adapters/express.ts";
import { fastifyWebhook } from "../../adapters/fastify.ts";
import { honoWebhook } from "../../adapters/hono.ts";
import { nodeWebhook } from "../../adapters/node.ts";
import type { Mirror, ReceiveRequest } from "../../src/index.ts";
import { delivery, eventBody, otherSecret, signed } from "../support/delivery.ts";
import { openMirror, recordingLogger } from "../support/mirror.ts";
import { createClient, type Framing, type HeaderPairs } from "./client.ts";
import { expressPackages, fastifyPackages, listen, startHono, type RunningHost } from "./hosts.ts";

type Start = (mirror: Mirror) => Promise<RunningHost>;

const logger = recordingLogger();
const running: RunningHost[] = [];

afterEach(async () => {
  await Promise.all(running.splice(0).map((host) => host.close()));
});

/** A host whose mirror takes whatever does not verify for forged. */
async function open(start: Start): Promise<{ mirror: Mirror; host: RunningHost }> {
  const mirror = await openMirror({ logger });
  await mirror.receive(delivery("webhook.test", { id: "proof" }));
  const host = await start(mirror);
  running.push(host);
  return { mirror, host };
}

async function statusOf(
  { port }: RunningHost,
  { headers, body }: ReceiveRequest,
  framing: Framing,
): Promise<number> {
  const client = createClient(port);
  const pairs = [["Content-Type", "application/json"], ...Object.entries(headers)] as unknown as HeaderPairs;
  const { status } = await client.send({ path: "/escrow", headers: pairs, body: body as Buffer, framing });
  client.close();
  return status;
}

const behindExpress = (before: (each: typeof express) => RequestHandler): [string, Start][] =>
  expressPackages.map(([name, each]) => [
    name,
    (mirror) => {
      const app = each();
      app.use(before(each as typeof express));
      app.all("/escrow", expressWebhook(mirror));
      return listen(createServer(app));
    },
  ]);

const behindHono =
  (read: (c: Parameters<MiddlewareHandler<{ Bindings: HttpBindings }>>[0]) => unknown): Start =>
  (mirror) => {
    const app = new Hono<{ Bindings: HttpBindings }>().use(async (c, next) => {
      await Promise.resolve(read(c)).catch(() => {});
      await next();
    });
    app.all("/escrow", honoWebhook(mirror));
    return startHono(app as unknown as Hono);
  };

const behindFastify = (
  prepare: (app: ReturnType<(typeof fastifyPackages)[0][1]>) => unknown,
): [string, Start][] =>
  fastifyPackages.map(([name, fastify]) => [
    name,
    async (mirror) => {
      const app = fastify();
      prepare(app);
      await app.register(fastifyWebhook, { mirror, path: "/escrow" });
      await app.listen({ port: 0, host: "127.0.0.1" });
      return {
        port: (app.server.address() as { port: number }).port,
        close: async () => {
          app.server.closeAllConnections();
          await app.close();
        },
      };
    },
  ]);

const behindNode =
  (prepare: (req: IncomingMessage) => unknown): Start =>
  (mirror) => {
    const webhook = nodeWebhook(mirror);
    return listen(
      createServer((req, res) => {
        void Promise.resolve(prepare(req)).then(() => webhook(req, res));
      }),
    );
  };

/** As some decompressing middleware do, whatever the framework. */
function inflated(req: IncomingMessage): NodeJS.ReadableStream {
  return req.headers["content-encoding"] === "gzip" ? req.pipe(createGunzip()) : req.pipe(new PassThrough());
}

const named = (what: string, starts: [string, Start][]): [string, Start][] =>
  starts.map(([name, start]) => [`${name}, ${what}`, start]);

/** Bytes are kept as they come, but for compressed ones. */
const keepingBytes: readonly [string, Start][] = [
  ...named(
    "raw()",
    behindExpress((each) => each.raw({ type: "*/*" })),
  ),
  ...named(
    "json({ verify })",
    behindExpress((each) => each.json({ verify: (req, _res, rawBody) => Object.assign(req, { rawBody }) })),
  ),
  ["hono, c.req.arrayBuffer()", behindHono((c) => c.req.arrayBuffer())],
  [
    "node, req.rawBody",
    behindNode(async (req) => Object.assign(req, { rawBody: Buffer.concat(await req.toArray()) })),
  ],
  ...named(
    "a stream in the place of the request",
    behindFastify((app) =>
      app.addHook("preParsing", (_request, _reply, payload, done) =>
        done(null, inflated(payload as IncomingMessage) as typeof payload),
      ),
    ),
  ),
];

const encodings = ["hex", "base64", "latin1", "ascii", "utf8", "utf16le"] as const;

/** Bytes are decoded, and come back if they can. */
const decoding: readonly [string, Start][] = [
  ...named(
    "text()",
    behindExpress((each) => each.text({ type: "*/*" })),
  ),
  ["hono, c.req.text()", behindHono((c) => c.req.text())],
  ["hono, c.req.json()", behindHono((c) => c.req.json())],
  [
    "node, a text made bytes again",
    behindNode(async (req) => {
      const text = new TextDecoder().decode(Buffer.concat(await req.toArray()));
      Object.assign(req, { rawBody: Buffer.from(text) });
    }),
  ],
  ...encodings.flatMap((encoding): [string, Start][] =>
    named(`setEncoding("${encoding}")`, [
      ["node", behindNode((req) => req.setEncoding(encoding))],
      ...behindExpress(() => (req, _res, next) => {
        req.setEncoding(encoding);
        next();
      }),
      ...behindFastify((app) =>
        app.addHook("onRequest", async ({ raw }) => {
          raw.setEncoding(encoding);
        }),
      ),
      ["hono", behindHono((c) => c.env.incoming.setEncoding(encoding))],
    ]),
  ),
];

const text = (name: string, title = "Boots"): Buffer =>
  Buffer.from(eventBody("contract.created", { id: `p-${name}`, contractId: name, title }));
const spoilt = (name: string, bytes: Uint8Array): ReceiveRequest => {
  const [before = "", after = ""] = text(name, "@@").toString().split("@@");
  return signed(Buffer.concat([Buffer.from(before), bytes, Buffer.from(after)]));
};
const gzip = { headers: { "Content-Encoding": "gzip" } };

const deliveries: readonly [string, ReceiveRequest][] = [
  ["plain", signed(text("plain"))],
  ["not ASCII", signed(text("accents", "Bottes d'été 🎉"))],
  ["with a replacement character of its own", signed(text("replaced", "Bottes d'\ufffd"))],
  ["with a byte order mark", signed(Buffer.concat([Buffer.of(0xef, 0xbb, 0xbf), text("marked")]))],
  ["compressed", signed(gzipSync(text("gzip")), gzip)],
  ["with a character cut after three bytes of four", spoilt("cut", Buffer.from("🎉").subarray(0, 3))],
  ["with a byte that is not UTF-8", spoilt("byte", Buffer.of(0xff))],
];
const plain = deliveries.slice(0, 3);
const forged = signed(text("forged"), { secret: otherSecret });
const framings: readonly Framing[] = ["length", "chunked"];

describe.each([...keepingBytes, ...decoding])("%s", (_name, start) => {
  it.each(framings)("applies a genuine delivery or answers 500, never 401: %s", async (framing) => {
    const { mirror, host } = await open(start);
    for (const [what, request] of deliveries) {
      const status = await statusOf(host, request, framing);
      expect([200, 500], what).toContain(status);
      const stored = await mirror.deliveries.get(
        (request.headers as Record<string, string>)["X-Service-Webhook-Id"] ?? "",
      );
      expect(stored === undefined, what).toBe(status === 500);
    }
  });

  it.each(framings)("stores nothing of a forged one: %s", async (framing) => {
    const { mirror, host } = await open(start);
    const before = (await mirror.deliveries.list()).items.length;
    expect([401, 500]).toContain(await statusOf(host, forged, framing));
    expect((await mirror.deliveries.list()).items).toHaveLength(before);
  });
});

describe.each(keepingBytes)("%s: bytes that were kept", (_name, start) => {
  it.each(framings)("are applied where they are as sent: %s", async (framing) => {
    const { host } = await open(start);
    for (const [what, request] of plain) expect(await statusOf(host, request, framing), what).toBe(200);
  });

  it("are forged where they have the length that was sent, and 401 says so", async () => {
    const { host } = await open(start);
    expect(await statusOf(host, forged, "length")).toBe(401);
    expect(await statusOf(host, { ...forged, headers: {} }, "chunked")).toBe(401);
  });
});

it("a host that uses its buffer again, once it has called the webhook, changes nothing", async () => {
  const { host } = await open((mirror) => {
    const webhook = nodeWebhook(mirror);
    return listen(
      createServer((req, res) => {
        void req.toArray().then((chunks) => {
          const rawBody = Buffer.concat(chunks as Buffer[]);
          void webhook(Object.assign(req, { rawBody }), res);
          return rawBody.fill(0);
        });
      }),
    );
  });
  for (const framing of framings)
    for (const [what, request] of deliveries) expect(await statusOf(host, request, framing), what).toBe(200);
});
