/** The table of hosts: each mounts a webhook as its users would, beside a route of its own that parses JSON. */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { serve } from "@hono/node-server";
import express5, { type Express, type RequestHandler, type Router } from "express";
import express4 from "express4";
import { fastify as fastify5, type FastifyInstance, type FastifyServerOptions } from "fastify";
import { fastify as fastify4 } from "fastify4";
import { Hono } from "hono";
import { expressWebhook } from "../../adapters/express.ts";
import { fastifyWebhook } from "../../adapters/fastify.ts";
import { fetchWebhook } from "../../adapters/fetch.ts";
import { honoWebhook } from "../../adapters/hono.ts";
import { nodeWebhook } from "../../adapters/node.ts";
import type { MirrorSource } from "../../adapters/lib/protocol.ts";

export interface Host {
  readonly name: string;
  /** Where the webhook is. */
  readonly path: string;
  start(mirror: MirrorSource): Promise<RunningHost>;
}

export interface RunningHost {
  readonly port: number;
  close(): Promise<void>;
}

/** What the hosts' tests need of Express, the same in 4 and 5. */
export interface ExpressPackage {
  (): Express;
  json: typeof express5.json;
  text: typeof express5.text;
  raw: typeof express5.raw;
  Router(): Router;
}

export const expressPackages: readonly (readonly [string, ExpressPackage])[] = [
  ["express 4", express4],
  ["express 5", express5],
];

/** What they need of Fastify, 4 and 5. */
export const fastifyPackages: readonly (readonly [
  string,
  (options?: FastifyServerOptions) => FastifyInstance,
])[] = [
  ["fastify 4", (options) => fastify4(options as object) as unknown as FastifyInstance],
  ["fastify 5", (options) => fastify5(options)],
];

const path = "/webhooks/escrow";
const mounted = "/api/v1/webhooks/escrow";

export const hosts: readonly Host[] = [
  { name: "node", path, start: (mirror) => listen(createServer(nodeRoutes(mirror))) },
  ...expressPackages.flatMap(([name, express]) => [
    { name, path, start: (mirror: MirrorSource) => listen(createServer(expressApp(express, mirror))) },
    {
      name: `${name}, in a router`,
      path: mounted,
      start: (mirror: MirrorSource) => listen(createServer(expressRouterApp(express, mirror))),
    },
  ]),
  ...fastifyPackages.flatMap(([name, fastify]) => [
    { name, path, start: (mirror: MirrorSource) => startFastify(fastify(), mirror, "") },
    {
      name: `${name}, under a prefix`,
      path: mounted,
      start: (mirror: MirrorSource) => startFastify(fastify(), mirror, "/api/v1"),
    },
  ]),
  { name: "hono", path, start: (mirror) => startHono(honoApp(mirror)) },
  { name: "hono, in a sub-app", path: mounted, start: (mirror) => startHono(honoSubApp(mirror)) },
  { name: "fetch", path, start: (mirror) => startFetch(mirror) },
];

/** What every host answers on `POST /echo`, to show that its own parser is in order. */
const echoOf = (value: unknown) => ({ echo: value });

export async function listen(server: Server): Promise<RunningHost> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return { port: (server.address() as AddressInfo).port, close };
}

function nodeRoutes(mirror: MirrorSource): Parameters<typeof createServer>[1] {
  const webhook = nodeWebhook(mirror);
  return (req, res) => {
    const { pathname } = new URL(req.url ?? "/", "http://localhost");
    if (pathname === path) return void webhook(req, res);
    if (pathname !== "/echo") return void res.writeHead(404).end();
    const chunks: Buffer[] = [];
    req.on("data", (chunk: Buffer) => chunks.push(chunk));
    req.on("end", () => res.end(JSON.stringify(echoOf(JSON.parse(Buffer.concat(chunks).toString())))));
  };
}

const echo: RequestHandler = (req, res) => {
  res.json(echoOf(req.body));
};

function expressApp(express: ExpressPackage, mirror: MirrorSource): Express {
  const app = express();
  app.all(path, expressWebhook(mirror));
  app.use(express.json());
  app.post("/echo", echo);
  return app;
}

function expressRouterApp(express: ExpressPackage, mirror: MirrorSource): Express {
  const app = express();
  const webhooks = express.Router();
  webhooks.all("/escrow", expressWebhook(mirror));
  app.use("/api/v1/webhooks", webhooks);
  app.post("/echo", express.json(), echo);
  return app;
}

async function startFastify(
  app: FastifyInstance,
  mirror: MirrorSource,
  prefix: string,
): Promise<RunningHost> {
  app.post("/echo", async (request) => echoOf(request.body));
  await app.register(fastifyWebhook, { prefix, mirror, path });
  await app.listen({ port: 0, host: "127.0.0.1" });
  const close = async () => {
    app.server.closeAllConnections();
    await app.close();
  };
  return { port: (app.server.address() as AddressInfo).port, close };
}

function honoApp(mirror: MirrorSource): Hono {
  const app = new Hono();
  app.all(path, honoWebhook(mirror));
  app.post("/echo", async (c) => c.json(echoOf(await c.req.json())));
  return app;
}

function honoSubApp(mirror: MirrorSource): Hono {
  const app = new Hono();
  const webhooks = new Hono().all("/escrow", honoWebhook(mirror));
  app.route("/api/v1/webhooks", webhooks);
  app.post("/echo", async (c) => c.json(echoOf(await c.req.json())));
  return app;
}

export function startHono(app: Hono): Promise<RunningHost> {
  return startServe((request, env) => app.fetch(request, env));
}

function startFetch(mirror: MirrorSource): Promise<RunningHost> {
  const webhook = fetchWebhook(mirror);
  return startServe(async (request) => {
    const { pathname } = new URL(request.url);
    if (pathname === path) return webhook(request);
    if (pathname !== "/echo") return new Response(null, { status: 404 });
    return Response.json(echoOf(await request.json()));
  });
}

async function startServe(fetch: Parameters<typeof serve>[0]["fetch"]): Promise<RunningHost> {
  const server = await new Promise<Server>((resolve) => {
    const started = serve({ fetch, port: 0, hostname: "127.0.0.1" }, () => resolve(started as Server));
  });
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return { port: (server.address() as AddressInfo).port, close };
}
