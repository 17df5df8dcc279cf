/** A shop on Fastify with a JSON API of its own. The webhook does not use the app's JSON parser. */
import type { AddressInfo } from "node:net";
import { createMirror } from "escrow-mirror";
import { fastifyWebhook } from "escrow-mirror/fastify";
import { sqlite } from "escrow-mirror/sqlite";
import { fastify } from "fastify";
import { pino } from "pino";

const { ESCROW_WEBHOOK_SECRET = "", ESCROW_DATABASE = "escrow.db", PORT = "3000" } = process.env;

const logger = pino();
const mirror = await createMirror({
  store: sqlite(ESCROW_DATABASE),
  webhook: { secrets: ESCROW_WEBHOOK_SECRET },
  logger,
});

const app = fastify();
await app.register(fastifyWebhook, { mirror, path: "/webhooks/escrow" });

app.get("/health", async (_request, reply) => {
  const health = await mirror.health();
  return reply.code(health.ok ? 200 : 503).send(health);
});
app.get<{ Params: { id: string } }>("/contracts/:id", async (request, reply) => {
  const contract = await mirror.contracts.get(request.params.id);
  return reply.code(contract === undefined ? 404 : 200).send(contract ?? { error: "no such contract" });
});
app.post("/orders", async (request, reply) => reply.code(201).send({ order: request.body }));

// Fastify closes the mirror after the last request.
app.addHook("onClose", () => mirror.close());
await app.listen({ port: Number(PORT), host: "127.0.0.1" });
logger.info({ port: (app.server.address() as AddressInfo).port }, "listening");

const stop = (): void => void app.close();
process.once("SIGTERM", stop);
process.once("SIGINT", stop);
