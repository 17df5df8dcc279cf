/**
 * The server of the HTTP bench, in a process of its own: `<framework> <SQLite file>` mounts the adapter as the README
 * shows, `<framework>` alone is what the framework's users would write to read the body as bytes and answer.
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { serve } from "@hono/node-server";
import express, { type Express } from "express";
import { fastify, type FastifyInstance } from "fastify";
import { Hono } from "hono";
import { expressWebhook } from "../../adapters/express.ts";
import { fastifyWebhook } from "../../adapters/fastify.ts";
import { honoWebhook } from "../../adapters/hono.ts";
import { createMirror, type Mirror } from "../../src/index.ts";
import { sqlite } from "../../src/sqlite.ts";
import { secret } from "./deliveries.ts";

const path = "/webhooks/escrow";
const host = "127.0.0.1";
/** As long as the mirror's own. */
const answer = { outcome: "applied", webhookId: "01234567-89ab-cdef-0123-456789abcdef" };

type Start = (mirror: Mirror | undefined) => Promise<number>;

const starts: Record<string, Start> = { express: startExpress, fastify: startFastify, hono: startHono };

async function startExpress(mirror: Mirror | undefined): Promise<number> {
  const server = createServer(mirror === undefined ? bareExpress() : expressWith(mirror));
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  return (server.address() as AddressInfo).port;
}

function expressWith(mirror: Mirror): Express {
  const app = express();
  app.all(path, expressWebhook(mirror));
  app.use(express.json());
  return app;
}

function bareExpress(): Express {
  const app = express();
  app.post(path, express.raw({ type: "*/*" }), (_req, res) => {
    res.json(answer);
  });
  return app;
}

async function startFastify(mirror: Mirror | undefined): Promise<number> {
  const app = fastify();
  if (mirror === undefined) mountBare(app);
  else await app.register(fastifyWebhook, { mirror, path });
  await app.listen({ port: 0, host });
  return (app.server.address() as AddressInfo).port;
}

function mountBare(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", { parseAs: "buffer" }, (_request, body, done) => done(null, body));
  app.post(path, async () => answer);
}

function startHono(mirror: Mirror | undefined): Promise<number> {
  const app = mirror === undefined ? bareHono() : new Hono().all(path, honoWebhook(mirror));
  return new Promise((resolve) => {
    serve({ fetch: app.fetch, port: 0, hostname: host }, ({ port }) => resolve(port));
  });
}

function bareHono(): Hono {
  return new Hono().post(path, async (c) => {
    await c.req.arrayBuffer();
    return c.json(answer);
  });
}

const [framework = "", file] = process.argv.slice(2);
const start = starts[framework];
if (start === undefined) throw new Error(`no such framework: ${framework}`);
process.on("disconnect", () => process.exit());
const mirror =
  file === undefined ? undefined : await createMirror({ store: sqlite(file), webhook: { secrets: secret } });
process.send?.(await start(mirror));
