/** What a handler gives back: a promise that is kept once the answer is sent, so that a host may look at the response after it. */
import { EventEmitter, once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { afterEach, describe, expect, it, vi } from "vitest";
import { expressWebhook } from "../../adapters/express.ts";
import { fastifyWebhook } from "../../adapters/fastify.ts";
import { fetchWebhook } from "../../adapters/fetch.ts";
import { honoWebhook } from "../../adapters/hono.ts";
import { nodeWebhook } from "../../adapters/node.ts";
import type { MirrorOpener, MirrorSource, WebhookReceiver } from "../../adapters/lib/protocol.ts";
import { createMirror, type Mirror } from "../../src/index.ts";
import { sqlite } from "../../src/sqlite.ts";
import { delivery, otherSecret, secret } from "../support/delivery.ts";
import { openMirror, recordingLogger } from "../support/mirror.ts";
import { createClient, type Answered, type Sent } from "./client.ts";
import { hosts, listen, type RunningHost } from "./hosts.ts";

const running: RunningHost[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((host) => host.close()));
});

const order = delivery("contract.created", { id: "p-1" }, { webhookId: "wh-1" });
const forged = delivery("contract.created", { id: "p-2" }, { secret: otherSecret });
const partsOf = ({ headers, body }: typeof order): Pick<Sent, "headers" | "body"> => ({
  headers: Object.entries(headers as Record<string, string>),
  body,
});

async function open(): Promise<Mirror> {
  const mirror = await openMirror({ webhook: { maxBodyBytes: 10_000 } });
  await mirror.receive(delivery("webhook.test", { id: "proof" }));
  return mirror;
}

async function openClosed(): Promise<Mirror> {
  const mirror = await open();
  await mirror.close();
  return mirror;
}

type Handler = (req: IncomingMessage, res: ServerResponse) => Promise<void>;
const handlers: readonly (readonly [string, (mirror: MirrorSource) => Handler])[] = [
  ["node", nodeWebhook],
  ["express", expressWebhook],
];

const sendings: readonly (readonly [
  string,
  () => MirrorSource | Promise<MirrorSource>,
  Omit<Sent, "path">,
  number,
])[] = [
  ["a delivery", open, partsOf(order), 200],
  ["a forged one", open, partsOf(forged), 401],
  ["an unsigned one", open, { body: Buffer.from("{}") }, 401],
  ["a delivery to a closed mirror", openClosed, partsOf(order), 503],
  ["a delivery to a mirror that is opening", () => new EventEmitter() as never, partsOf(order), 503],
  ["a delivery that is too large", open, { ...partsOf(order), body: 20_000, framing: "chunked" }, 413],
  ["a GET", open, { method: "GET" }, 405],
  ["a HEAD", open, { method: "HEAD" }, 405],
];

function refuseHead(): never {
  throw new TypeError(`no such header: ${secret}`);
}

/** What many a host does: what nobody has answered after the handler is not found. */
async function answerOrNotFound(handler: Handler, req: IncomingMessage, res: ServerResponse): Promise<void> {
  await handler(req, res);
  if (!res.writableEnded) res.writeHead(404).end();
}

describe.each(handlers)("%s", (_name, toHandler) => {
  async function send(mirror: MirrorSource, sent: Omit<Sent, "path">): Promise<Answered> {
    const webhook = toHandler(mirror);
    const host = await listen(
      createServer((req, res) => {
        void answerOrNotFound(webhook, req, res);
      }),
    );
    running.push(host);
    const client = createClient(host.port);
    return client.send({ path: "/", ...sent }).finally(() => client.close());
  }

  it.each(sendings)("is done once %s is answered", async (_what, opened, sent, expected) => {
    const source = await opened();
    const mirror = source instanceof EventEmitter ? new Promise<never>(() => {}) : source;
    expect((await send(mirror, sent)).status).toBe(expected);
  });

  it("is done when the sender goes away half-way", async () => {
    const webhook = toHandler(await open());
    const done = new EventEmitter();
    const host = await listen(
      createServer((req, res) => void webhook(req, res).then(() => done.emit("done"))),
    );
    running.push(host);
    const client = createClient(host.port);
    const isDone = once(done, "done");
    await client.abort({ path: "/", ...partsOf(order) });
    await isDone;
    client.close();
  });

  it.each([
    ["tells nothing", {}],
    ["says that all is sent", { writableFinished: true, on: () => {} }],
    ["is destroyed", { destroyed: true, on: () => {} }],
  ])("is done where the response is an imitation that %s", async (_what, more) => {
    const req = Object.assign(Readable.from([order.body as Buffer]), {
      method: "POST",
      headers: order.headers,
    });
    const res = { headersSent: false, writeHead() {}, write() {}, end() {}, destroy() {}, ...more };
    await toHandler(await open())(req as never, res as never);
  });

  it("hands its own error to the mirror, which logs it, and ends the connection", async () => {
    const logger = recordingLogger();
    const mirror = await openMirror({ logger });
    const destroy = vi.fn();
    const req = Object.assign(Readable.from([order.body as Buffer]), {
      method: "POST",
      headers: order.headers,
    });
    await toHandler(mirror)(req as never, { headersSent: false, writeHead: refuseHead, destroy } as never);
    expect(destroy).toHaveBeenCalledTimes(1);
    expect(logger.lines.filter(({ level }) => level === "error")).toMatchObject([
      { fields: { error: "TypeError" } },
    ]);
    expect(JSON.stringify(logger.lines)).not.toContain(secret);
    expect(await mirror.deliveries.get("wh-1")).toBeDefined();
  });
});

describe("an error of a host's own is logged and answered 503", () => {
  it("by fetch and Hono", async () => {
    const logger = recordingLogger();
    const mirror = await openMirror({ logger });
    const broken = new Proxy({} as never, {
      get() {
        throw new RangeError("broken");
      },
    });
    expect((await fetchWebhook(mirror)(broken)).status).toBe(503);
    expect((await honoWebhook(mirror)({ env: {}, req: broken })).status).toBe(503);
    const errors = logger.lines.filter(({ level }) => level === "error");
    expect(errors.map(({ fields }) => fields["error"])).toEqual(["RangeError", "RangeError"]);
  });

  it("by Fastify", async () => {
    const logger = recordingLogger();
    const mirror = await openMirror({ logger });
    const hooks: ((request: never, reply: never) => void)[] = [];
    const app = {
      initialConfig: {},
      all: (_path: string, _options: unknown, handler: (request: never, reply: never) => void) =>
        hooks.push(handler),
    };
    await fastifyWebhook(app, { mirror, path: "/a" });
    const destroyed = new Promise<void>((resolve) => {
      const raw = { headersSent: false, writeHead: refuseHead, destroy: resolve };
      const request = { raw: Object.assign(Readable.from([]), { method: "GET", headers: {} }) };
      hooks[0]?.(request as never, { raw, hijack() {} } as never);
    });
    await destroyed;
    expect(logger.lines.filter(({ level }) => level === "error")).toMatchObject([
      { fields: { error: "TypeError" } },
    ]);
  });
});

describe.each(hosts.filter(({ name }) => !name.includes(",")))(
  "$name: a mirror that is opened when it is needed",
  (host) => {
    async function start(opener: MirrorOpener): Promise<(sent?: Omit<Sent, "path">) => Promise<number>> {
      running.push(await host.start(opener));
      const { port } = running.at(-1) as RunningHost;
      return async (sent = partsOf(order)) => {
        const client = createClient(port);
        const { status } = await client.send({ path: host.path, ...sent }).finally(() => client.close());
        return status;
      };
    }

    it("is opened by the first request, once for all that wait for it", async () => {
      const opener = vi.fn(() => openMirror());
      const send = await start(opener);
      expect(opener).not.toHaveBeenCalled();
      expect(await Promise.all([send(), send(), send()])).toEqual([200, 200, 200]);
      expect(await send()).toBe(200);
      expect(opener).toHaveBeenCalledTimes(1);
    });

    it("may be there already", async () => {
      const mirror = await openMirror();
      const send = await start(() => mirror);
      expect(await send()).toBe(200);
    });

    it("that fails is answered 503 with a warning", async () => {
      const warn = vi.spyOn(process, "emitWarning").mockImplementation(() => {});
      const send = await start(() => createMirror({ store: sqlite(":memory:"), webhook: { secrets: "" } }));
      expect(await send()).toBe(503);
      const throwing = await start(() => {
        throw new RangeError("no");
      });
      expect(await throwing()).toBe(503);
      expect(warn.mock.calls.map(([message]) => String(message))).toEqual([
        expect.stringContaining("Signing secret"),
        expect.stringContaining("RangeError"),
      ]);
      warn.mockRestore();
    });
  },
);

describe("a mirror that failed to open", () => {
  it("is opened again a little later, not by every request", async () => {
    const warn = vi.spyOn(process, "emitWarning").mockImplementation(() => {});
    const opened: (() => Promise<WebhookReceiver>)[] = [
      () => Promise.reject(new Error("the database starts later than we do")),
      () => openMirror(),
    ];
    const opener = vi.fn(() => (opened.shift() as () => Promise<WebhookReceiver>)());
    const handler = fetchWebhook(opener);
    const send = async (): Promise<number> => {
      const init = {
        method: "POST",
        headers: new Headers(Object.entries(order.headers)),
        body: order.body as Buffer,
      };
      return (await handler(new Request("http://localhost/", init))).status;
    };
    expect(await send()).toBe(503);
    expect(await send()).toBe(503);
    expect(opener).toHaveBeenCalledTimes(1);
    await vi.waitFor(async () => expect(await send()).toBe(200), { timeout: 20_000, interval: 500 });
    expect(opener).toHaveBeenCalledTimes(2);
    warn.mockRestore();
  });
});
