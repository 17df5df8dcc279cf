/** Runs the recipes of docs/handlers.md as they stand there: no mail and no parcel is lost or doubled. */
import { runInNewContext } from "node:vm";
import ts from "typescript";
import { expect, it } from "vitest";
import type { Mirror } from "../../../src/index.ts";
import { createClient } from "../../../src/client.ts";
import { createSandbox, manualClock } from "../../../src/sandbox.ts";
import {
  assertConverges,
  assertHandlerIdempotent,
  buildEvent,
  createTestMirror,
  livesFrom,
} from "../../../src/testing.ts";
import { blocksOf } from "./blocks.ts";
import { readPages } from "./pages.ts";

/** Runs the block that has this text, on this mirror. Its effects are keys or lines, which the result returns, each once. */
function registering(text: string): (mirror: Mirror) => () => string[] {
  const guide = readPages().filter(({ path }) => path === "docs/handlers.md");
  const block = guide.flatMap(blocksOf).find(({ code }) => code.includes(text));
  expect(block).toBeDefined();
  const script = ts.transpile(block?.code.replace(/^import .*$/gm, "") ?? "", {
    target: ts.ScriptTarget.ES2023,
  });
  return (mirror) => {
    const done = new Set<string>();
    const doOnce = async ({ idempotencyKey }: { idempotencyKey: string }) => void done.add(idempotencyKey);
    const console = { log: (...words: string[]) => void done.add(words.join(" ")) };
    const [mail, warehouse] = [{ send: doOnce }, { ship: doOnce }];
    runInNewContext(script, { mirror, mail, warehouse, emailOfOrder, console });
    return () => [...done].sort();
  };
}

const emailOfOrder = async (): Promise<string> => "buyer@shop.example";
const mailing = registering('name: "email-refund"');
const shipping = registering('name: "ship"');
const seeds = [1, 2, 3, 4];

it.each(seeds)(
  "each refund is mailed once, whatever the order, copies and crashes (seed %i)",
  async (seed) => {
    const lives = livesFrom(seed, 10);
    const deliveries = lives.flatMap((life) => life.deliveries);
    const refunds = lives.flatMap(({ contractId, truth }) =>
      truth.refunds
        .filter(({ state }) => state === "succeeded")
        .map(({ milestoneId }) => `refund-${contractId}-${milestoneId}`),
    );
    await assertConverges(deliveries, { lives, register: mailing, expected: [...new Set(refunds)].sort() });
    await assertHandlerIdempotent(mailing, deliveries);
  },
);

it.each(seeds)("a parcel is sent for what is paid in the end, and only once (seed %i)", async (seed) => {
  const lives = livesFrom(seed, 10);
  const deliveries = lives.flatMap((life) => life.deliveries);
  await assertConverges(deliveries, { lives, register: shipping });
  await assertHandlerIdempotent(shipping, deliveries);
});

const at = (minute: number) => `2026-01-01T00:0${minute}:00Z`;

it("a payment's webhook that comes after the release ships once", async () => {
  const { mirror, deliver } = await createTestMirror();
  const parcels = shipping(mirror);
  for (const [event, minute] of [
    ["contract.created", 0],
    ["contract.approved", 1],
    ["contract.released", 3],
    ["payment.completed", 2],
  ] as const) {
    await deliver(buildEvent(event, { data: { contractId: "CNT-1", timestamp: at(minute) } }));
    await mirror.idle();
  }
  expect(parcels()).toEqual(["shipped-CNT-1"]);
  await mirror.close();
});

it("a milestone's refund of the earlier edition, which moves the contract too, is mailed once", async () => {
  const { mirror, deliver } = await createTestMirror();
  const mails = mailing(mirror);
  const about = { contractId: "CNT-1", transactionId: "4523", metadata: { milestoneId: "13" } };
  await deliver(buildEvent("payment.completed", { data: { contractId: "CNT-1", timestamp: at(1) } }));
  await deliver(buildEvent("refund.partial-initiated", { data: { ...about, timestamp: at(2) } }));
  await deliver(buildEvent("refund.partial-succeeded", { data: { ...about, timestamp: at(3) } }));
  await mirror.idle();
  expect((await mirror.contracts.get("CNT-1"))?.status).toBe("Refunded");
  expect(mails()).toEqual(["refund-CNT-1-13"]);
  await mirror.close();
});

it("a refund and a payment whose webhooks are lost are found by reconcile, and done once", async () => {
  const sandbox = await createSandbox({ port: 0, clock: manualClock(Date.parse("2026-01-01T00:00:00Z")) });
  const { contractId } = await sandbox.createContract();
  await sandbox.act(contractId, "pay");
  const { mirror } = await createTestMirror({ client: createClient(sandbox) });
  const [parcels, mails] = [shipping(mirror), mailing(mirror)];
  await mirror.contracts.import([contractId]);
  await mirror.idle();
  expect(parcels()).toEqual([`shipped-${contractId}`]);

  const [milestone] = (await sandbox.contracts.get(contractId))?.milestones ?? [];
  const { refundId } = await sandbox.requestRefund(contractId, {
    milestoneId: milestone?.milestoneId,
    reason: "late",
  });
  await sandbox.settleRefund(refundId);
  await mirror.reconcile();
  await mirror.idle();
  expect(mails()).toEqual([`refund-${contractId}-${milestone?.milestoneId}`]);
  await mirror.close();
  await sandbox.close();
});

it.each([
  ["2025-12-31T00:00:00Z", 0],
  ["2026-03-02T00:00:00Z", 1],
])("of refunds that only an import shows, the guard skips old contracts (created %s)", async (day, count) => {
  const sandbox = await createSandbox({ port: 0, clock: manualClock(Date.parse(day)) });
  const party = { phoneNumber: "+966500000001", firstName: "Sara", lastName: "Ali" };
  const { contractId } = await sandbox.createContract({
    title: "A lamp",
    contractServiceType: "Product",
    buyerParty: party,
    sellerParty: { ...party, phoneNumber: "+966500000002" },
    amount: 250,
  });
  await sandbox.act(contractId, "pay");
  const { refundId } = await sandbox.requestRefund(contractId, { reason: "late" });
  await sandbox.settleRefund(refundId);
  const { mirror } = await createTestMirror({ client: createClient(sandbox), startMs: Date.UTC(2026, 3) });
  const lines = registering('name: "log-refunded"')(mirror);
  await mirror.contracts.import([contractId]);
  await mirror.idle();
  expect(lines()).toHaveLength(count);
  await mirror.close();
  await sandbox.close();
});
