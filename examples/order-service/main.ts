/**
 * A shop whose orders and mirror share one database. The ledger is written in the delivery's own transaction. Handlers put
 * the mail into an outbox afterwards. The page after the checkout waits for the webhook.
 */
import type { AddressInfo } from "node:net";
import Database from "better-sqlite3";
import { createMirror } from "escrow-mirror";
import { expressWebhook } from "escrow-mirror/express";
import { sqlite } from "escrow-mirror/sqlite";
import express from "express";
import { sql } from "kysely";

const { ESCROW_WEBHOOK_SECRET = "", ESCROW_DATABASE = "shop.db", PORT = "3000" } = process.env;

const shop = new Database(ESCROW_DATABASE);
shop.exec(`create table if not exists ledger
  (contract text, halalas integer, event text, id text, primary key (contract, event, id))`);
shop.exec("create table if not exists outbox (mail text, key text primary key)");

const mirror = await createMirror({
  store: sqlite(ESCROW_DATABASE),
  webhook: { secrets: ESCROW_WEBHOOK_SECRET },
});

const refunds = [
  "refund.full-succeeded",
  "refund.partial-succeeded",
  "milestone.refund.full-succeeded",
] as const;

// The row is committed with the delivery, or not at all. The key prevents a second row if another delivery reports the same.
mirror.inTransaction(
  ["payment.completed", ...refunds],
  async ({ contractId, amountMinor, event, transactionId, webhookId }, { trx }) => {
    const halalas = event === "payment.completed" ? amountMinor : -(amountMinor ?? 0);
    await sql`insert into ledger values (${contractId}, ${halalas}, ${event}, ${transactionId ?? webhookId})
              on conflict do nothing`.execute(trx);
  },
  { name: "ledger" },
);

// The webhook can be lost, so a move counts too (docs/handlers.md). The key prevents a second mail.
function mailRefund({ contractId, milestoneId }: { contractId: string; milestoneId: string | null }): void {
  const mail = `The refund of ${contractId} has arrived.`;
  const key = `refund-${contractId}-${milestoneId}`;
  shop.prepare("insert or ignore into outbox values (?, ?)").run(mail, key);
}
mirror.on(refunds, mailRefund, { name: "email-refund" });
mirror.onTransition(
  { entity: "contract", to: ["Refunded", "PartiallyRefunded"] },
  (move, { contract }) => {
    // In the service's earlier edition a milestone's refund can move the contract too: one refund, one mail.
    if (!contract?.milestones.some(({ status }) => status === "Refunded")) mailRefund(move);
  },
  { name: "email-refunded-contract" },
);
mirror.onTransition({ entity: "milestone", to: "Refunded" }, mailRefund, {
  name: "email-refunded-milestone",
});

const app = express();
app.all("/webhooks/escrow", expressWebhook(mirror));

// The buyer comes back from the checkout, often before the webhook.
app.get("/orders/:contractId/paid", async (req, res) => {
  try {
    const { status } = await mirror.contracts.waitFor(req.params.contractId, "Escrow", { timeoutMs: 10_000 });
    res.json({ paid: true, status });
  } catch (error) {
    res.status(202).json({ paid: false, why: (error as { code?: string }).code });
  }
});
app.get("/ledger", (_req, res) => {
  res.json(shop.prepare("select contract, halalas, event from ledger").all());
});
app.get("/outbox", async (_req, res) => {
  await mirror.idle();
  res.json(shop.prepare("select mail from outbox").all());
});

const server = app.listen(Number(PORT), () => {
  console.log(JSON.stringify({ port: (server.address() as AddressInfo).port }));
});

/** The server takes no new connections. The mirror commits and answers what is in flight, and waits for running handlers. */
async function stop(): Promise<void> {
  server.close();
  await mirror.close();
  shop.close();
}
process.once("SIGTERM", () => void stop());
process.once("SIGINT", () => void stop());
