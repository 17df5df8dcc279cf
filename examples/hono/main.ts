/** A shop on Hono, served by Node. */
import { serve } from "@hono/node-server";
import { createMirror } from "escrow-mirror";
import { honoWebhook } from "escrow-mirror/hono";
import { sqlite } from "escrow-mirror/sqlite";
import { Hono } from "hono";
import { pino } from "pino";

const { ESCROW_WEBHOOK_SECRET = "", ESCROW_DATABASE = "escrow.db", PORT = "3000" } = process.env;

const logger = pino();
const mirror = await createMirror({
  store: sqlite(ESCROW_DATABASE),
  webhook: { secrets: ESCROW_WEBHOOK_SECRET },
  logger,
});

const app = new Hono();
app.all("/webhooks/escrow", honoWebhook(mirror));

app.get("/health", async (c) => {
  const health = await mirror.health();
  return c.json(health, health.ok ? 200 : 503);
});
app.get("/contracts/:id", async (c) => {
  const contract = await mirror.contracts.get(c.req.param("id"));
  return contract === undefined ? c.json({ error: "no such contract" }, 404) : c.json(contract);
});
app.post("/orders", async (c) => c.json({ order: await c.req.json<unknown>() }, 201));

const server = serve({ fetch: app.fetch, port: Number(PORT) }, ({ port }) => {
  logger.info({ port }, "listening");
});

/** The server ends when each open request has its answer. Then the mirror closes. */
function stop(): void {
  server.close(() => void mirror.close());
}
process.once("SIGTERM", stop);
process.once("SIGINT", stop);
