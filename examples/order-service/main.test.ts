import { afterAll, beforeAll, expect, it } from "vitest";
import { createSandbox, manualClock, type Sandbox } from "escrow-mirror/sandbox";
import { buildEvent, signDelivery } from "escrow-mirror/testing";
import { secret } from "../../test/support/delivery.ts";
import { startExample, type RunningExample } from "../../test/support/example.ts";

let shop: RunningExample;
let sandbox: Sandbox;

beforeAll(async () => {
  shop = await startExample(new URL("main.ts", import.meta.url));
  sandbox = await createSandbox({
    port: 0,
    webhookUrl: `${shop.url}/webhooks/escrow`,
    webhookSecret: secret,
    clock: manualClock(),
  });
});

afterAll(async () => {
  await sandbox.close();
  expect(await shop.stop()).toBe(0);
});

it("writes the ledger once, mails the buyer once, and knows that the buyer has paid", async () => {
  const { contractId } = await sandbox.createContract({
    title: "A lamp",
    contractServiceType: "Product",
    buyerParty: { phoneNumber: "+966500000001", firstName: "Sara", lastName: "Ali" },
    sellerParty: { phoneNumber: "+966500000002", firstName: "Omar", lastName: "Nasser" },
    amount: 250,
  });
  await sandbox.act(contractId, "approve");
  const waiting = shop.request(`/orders/${contractId}/paid`);
  await sandbox.act(contractId, "pay");
  await sandbox.deliveries.idle();
  expect(await waiting).toEqual([200, { paid: true, status: "Escrow" }]);

  const { refundId } = await sandbox.requestRefund(contractId, { reason: "changed my mind" });
  await sandbox.settleRefund(refundId);
  await sandbox.deliveries.idle();
  await reportAgain(contractId, refundId);
  expect(await shop.request("/ledger")).toEqual([
    200,
    [
      { contract: contractId, halalas: 25_000, event: "payment.completed" },
      { contract: contractId, halalas: -25_000, event: "refund.full-succeeded" },
    ],
  ]);
  expect(await shop.request("/outbox")).toEqual([
    200,
    [{ mail: `The refund of ${contractId} has arrived.` }],
  ]);
});

/** A second delivery, with ids of its own, about the same refund. */
async function reportAgain(contractId: string, transactionId: string): Promise<void> {
  const again = buildEvent("refund.full-succeeded", { data: { contractId, transactionId, amount: 250 } });
  const { headers, body } = signDelivery(again, { secret });
  const { status } = await fetch(`${shop.url}/webhooks/escrow`, { method: "POST", headers, body });
  expect(status).toBe(200);
}
