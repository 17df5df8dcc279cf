/**
 * A shop on Express with a JSON API of its own. The webhook is mounted above the JSON parser, because the signature is over
 * the bytes as sent.
 */
import type { AddressInfo } from "node:net";
import { createMirror } from "escrow-mirror";
import { expressWebhook } from "escrow-mirror/express";
import { sqlite } from "escrow-mirror/sqlite";
import express from "express";
import { pino } from "pino";

const { ESCROW_WEBHOOK_SECRET = "", ESCROW_DATABASE = "escrow.db", PORT = "3000" } = process.env;

const logger = pino();
const mirror = await createMirror({
  store: sqlite(ESCROW_DATABASE),
  webhook: { secrets: ESCROW_WEBHOOK_SECRET },
  logger,
});

const app = express();
app.all("/webhooks/escrow", expressWebhook(mirror));
app.use(express.json());

app.get("/health", async (_req, res) => {
  const health = await mirror.health();
  res.status(health.ok ? 200 : 503).json(health);
});
app.get("/contracts/:id", async (req, res) => {
  const contract = await mirror.contracts.get(req.params.id);
  res.status(contract === undefined ? 404 : 200).json(contract ?? { error: "no such contract" });
});
app.post("/orders", (req, res) => {
  res.status(201).json({ order: req.body });
});

const server = app.listen(Number(PORT), () => {
  logger.info({ port: (server.address() as AddressInfo).port }, "listening");
});

/** The server ends when each open request has its answer. Then the mirror closes. */
function stop(): void {
  server.close(() => void mirror.close());
}
process.once("SIGTERM", stop);
process.once("SIGINT", stop);
