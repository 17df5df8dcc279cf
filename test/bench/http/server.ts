/**
 * The server of the HTTP bench, in a process of its own: `<framework> mirror <SQLite file>` mounts the adapter as the README
 * shows, `<framework> bare` is what the framework's users would write to read the body as bytes and answer, and
 * `<framework> hand <SQLite file> <count>` that with a receiver written by hand, good for so many deliveries.
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { serve } from "@hono/node-server";
import express, { type Express } from "express";
import { fastify, type FastifyInstance } from "fastify";
import { Hono } from "hono";
import { expressWebhook } from "../../../adapters/express.ts";
import { fastifyWebhook } from "../../../adapters/fastify.ts";
import { honoWebhook } from "../../../adapters/hono.ts";
import { createMirror, type Mirror } from "../../../src/index.ts";
import { sqlite } from "../../../src/sqlite.ts";
import { secret } from "../deliveries.ts";
import { openHandReceiver, type Take } from "./hand.ts";

const path = "/webhooks/escrow";
const host = "127.0.0.1";
const signatureHeader = "x-service-signature";
/** As long as the mirror's own. */
const answer = { outcome: "applied", webhookId: "01234567-89ab-cdef-0123-456789abcdef" };

/** The mirror behind its adapter, or what is done by hand with a body that was read. */
type Receiver = { readonly mirror: Mirror } | { readonly take: Take };

const starts: Record<string, (receiver: Receiver) => Promise<number>> = {
  express: startExpress,
  fastify: startFastify,
  hono: startHono,
};

async function startExpress(receiver: Receiver): Promise<number> {
  const server = createServer(
    "mirror" in receiver ? expressWith(receiver.mirror) : bareExpress(receiver.take),
  );
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  return (server.address() as AddressInfo).port;
}

function expressWith(mirror: Mirror): Express {
  const app = express();
  app.all(path, expressWebhook(mirror));
  app.use(express.json());
  return app;
}

function bareExpress(take: Take): Express {
  const app = express();
  app.post(path, express.raw({ type: "*/*" }), async (req, res) => {
    await take(req.body as Buffer, req.get(signatureHeader));
    res.json(answer);
  });
  return app;
}

async function startFastify(receiver: Receiver): Promise<number> {
  const app = fastify();
  if ("mirror" in receiver) await app.register(fastifyWebhook, { mirror: receiver.mirror, path });
  else mountBare(app, receiver.take);
  await app.listen({ port: 0, host });
  return (app.server.address() as AddressInfo).port;
}

function mountBare(app: FastifyInstance, take: Take): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", { parseAs: "buffer" }, (_request, body, done) => done(null, body));
  app.post(path, async (request) => {
    await take(request.body as Buffer, request.headers[signatureHeader] as string | undefined);
    return answer;
  });
}

function startHono(receiver: Receiver): Promise<number> {
  const app =
    "mirror" in receiver ? new Hono().all(path, honoWebhook(receiver.mirror)) : bareHono(receiver.take);
  return new Promise((resolve) => {
    serve({ fetch: app.fetch, port: 0, hostname: host }, ({ port }) => resolve(port));
  });
}

function bareHono(take: Take): Hono {
  return new Hono().post(path, async (c) => {
    await take(Buffer.from(await c.req.arrayBuffer()), c.req.header(signatureHeader));
    return c.json(answer);
  });
}

async function openReceiver(kind: string, file: string, count: number): Promise<Receiver> {
  if (kind === "bare") return { take: async () => {} };
  if (kind === "hand") return { take: await openHandReceiver(file, count) };
  return { mirror: await createMirror({ store: sqlite(file), webhook: { secrets: secret } }) };
}

const [framework = "", kind = "", file = "", count = ""] = process.argv.slice(2);
const start = starts[framework];
if (start === undefined) throw new Error(`no such framework: ${framework}`);
process.on("disconnect", () => process.exit());
process.send?.(await start(await openReceiver(kind, file, Number(count))));
