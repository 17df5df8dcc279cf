/** A shop on Fastify. Any number of instances run behind a load balancer. All share one Postgres with the shop's own tables. */
import type { AddressInfo } from "node:net";
import { createMirror } from "escrow-mirror";
import { fastifyWebhook } from "escrow-mirror/fastify";
import { postgres } from "escrow-mirror/postgres";
import { fastify } from "fastify";
import { Pool } from "pg";
import { pino } from "pino";

const {
  ESCROW_WEBHOOK_SECRET = "",
  DATABASE_URL = "",
  ESCROW_SCHEMA = "escrow_mirror",
  PORT = "3000",
} = process.env;

const logger = pino();
const pool = new Pool({ connectionString: DATABASE_URL });

// All instances can start at once: one creates the tables.
const mirror = await createMirror({
  store: postgres({ pool, schema: ESCROW_SCHEMA }),
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

// The pool belongs to the app: end it after the mirror.
app.addHook("onClose", async () => {
  await mirror.close();
  await pool.end();
});
await app.listen({ port: Number(PORT), host: "127.0.0.1" });
logger.info({ port: (app.server.address() as AddressInfo).port }, "listening");

const stop = (): void => void app.close();
process.once("SIGTERM", stop);
process.once("SIGINT", stop);
