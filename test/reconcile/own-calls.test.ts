/** Contracts and refunds through the mirror: one each, whatever becomes of the answer. Full counts with SOAK=1. */
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { EscrowApiError } from "../../src/client.ts";
import type { Client } from "../../src/client.ts";
import type { Mirror } from "../../src/mirror/create-mirror.ts";
import type { MirrorClient } from "../../src/reconcile/mirror-client.ts";
import { createRandom } from "../simulation/random.ts";
import { recordingLogger, openMirror } from "../support/mirror.ts";
import { contractInput, minuteMs, openService, type Service } from "./support.ts";

const isSoak = process.env["SOAK"] !== undefined;
const seed = Number(process.env["SEED"] ?? Date.now() % 1_000_000);
const rounds = isSoak ? 1000 : 60;

/** A paid contract without milestones. */
async function paid(service: Service, index = 1): Promise<string> {
  const { contract } = await service.mirror.contracts.create(contractInput(index));
  for (const action of ["approve", "pay"] as const) {
    await service.pass();
    await service.sandbox.act(contract.contractId, action);
  }
  await service.pass();
  return contract.contractId;
}

const openRows = (mirror: Mirror) =>
  mirror.db.selectFrom("intents").selectAll().where("open_key", "is not", null).execute();

/** Counts the POSTs that leave the client. */
function counting(calls: string[]) {
  return (client: Client): MirrorClient => ({
    ...client,
    contracts: {
      ...client.contracts,
      create: (...given) => {
        calls.push("create");
        return client.contracts.create(...given);
      },
      refund: (...given) => {
        calls.push("refund");
        return client.contracts.refund(...given);
      },
    },
  });
}

describe("contracts.create", () => {
  it("resolves with the contract as the mirror has it, and the payment page", async () => {
    const { mirror } = await openService();
    const { contract, checkoutUrl } = await mirror.contracts.create(contractInput(3));
    expect(contract).toMatchObject({
      status: "pending",
      title: "Contract 3",
      reference: "order-3",
      amountMinor: 10_000,
      metadata: { metadata1: "first of 3" },
      buyer: { firstName: "Alia" },
      milestones: [{ name: "First part" }, { name: "Second part" }],
    });
    expect(checkoutUrl).toMatch(/^http/);
    expect(await openRows(mirror)).toEqual([]);
  });

  it("makes a reference where none is given", async () => {
    const { mirror } = await openService();
    const { reference: _, ...input } = contractInput(1);
    const { contract } = await mirror.contracts.create(input);
    expect(contract.reference).toMatch(/^[0-9a-f-]{36}$/);
  });

  it("knows the contract by its reference when the answer was cut off and the webhook arrives", async () => {
    const calls: string[] = [];
    const service = await openService({ toClient: counting(calls) });
    const { sandbox, mirror, client, pass } = service;
    // A token is at hand: it is the create that is cut.
    await client.webhooks.logs();
    sandbox.faults.set({ cutConnection: 1 });
    await expect(mirror.contracts.create(contractInput(3))).rejects.toMatchObject({
      code: "outcome-unknown",
    });
    sandbox.faults.clear();
    await expect(mirror.contracts.create(contractInput(3))).rejects.toMatchObject({
      code: "already-requested",
    });
    expect(await openRows(mirror)).toHaveLength(1);
    await pass();
    expect(await openRows(mirror)).toEqual([]);
    expect((await mirror.contracts.list()).items).toMatchObject([
      {
        reference: "order-3",
        title: "Contract 3",
        amountMinor: 10_000,
        serviceType: "service",
        status: "pending",
      },
    ]);
    expect(await sandbox.contracts.list()).toHaveLength(1);
    expect(calls).toEqual(["create"]);
  });

  it("holds no reference that the service refused, or that was never sent", async () => {
    const service = await openService();
    const { sandbox, mirror } = service;
    const callbackUrl = "https://shop.test/x";
    await expect(mirror.contracts.create({ ...contractInput(1), amount: 0 })).rejects.toMatchObject({
      code: "invalid-argument",
    });
    const stop = AbortSignal.abort();
    await expect(mirror.contracts.create(contractInput(1), { signal: stop })).rejects.toMatchObject({
      code: "aborted",
    });
    expect(await openRows(mirror)).toEqual([]);
    await mirror.contracts.create({ ...contractInput(1), callbackUrl });
    expect(await sandbox.contracts.list()).toHaveLength(1);
  });

  it("tells once of a call that nothing ever answers", async () => {
    const service = await openService({ mirror: { intentTimeoutMs: minuteMs } });
    const { sandbox, mirror, client, pass } = service;
    await client.webhooks.logs();
    const told: string[] = [];
    mirror.on("anomaly", async ({ kind }) => void told.push(kind), { name: "alarm" });
    sandbox.faults.set({ cutConnection: 1, drop: 1 });
    await expect(mirror.contracts.create(contractInput(1))).rejects.toMatchObject({
      code: "outcome-unknown",
    });
    sandbox.faults.clear();
    await pass(2 * minuteMs);
    await mirror.reconcile();
    await mirror.reconcile();
    await mirror.idle();
    expect(told).toEqual(["intent-open"]);
    expect(await mirror.anomalies.list({ kind: "intent-open" })).toMatchObject({
      items: [{ detail: expect.stringContaining('"order-1"') }],
    });
  });

  it(`has one row each where webhooks are faster than the answer, and sets no status back (SEED=${seed})`, async () => {
    const random = createRandom(seed);
    const service = await openService({
      sandbox: { concurrency: 8 },
      toClient: (client) => ({
        ...client,
        contracts: {
          ...client.contracts,
          create: async (...given) => {
            const created = await client.contracts.create(...given);
            const { sandbox, pass } = service;
            const steps = (["approve", "pay", "release"] as const).slice(0, random.below(4));
            for (const step of steps) await sandbox.act(created.contractId, step);
            if (random.below(3) > 0) await pass(1);
            await sleep(random.below(3));
            return created;
          },
        },
      }),
    });
    const { mirror, pass, sandbox } = service;
    for (let index = 0; index < rounds; index++) await mirror.contracts.create(contractInput(index));
    await pass();
    const contracts = await sandbox.contracts.list();
    expect(await mirror.contracts.count()).toMatchObject({ total: rounds });
    for (const { contractId, status } of contracts)
      expect(await mirror.contracts.get(contractId)).toMatchObject({ status });
    expect(await openRows(mirror)).toEqual([]);
  });
});

describe("refunds.create", () => {
  it("stands as requested before it is sent, and has its id from the answer", async () => {
    const seen: unknown[] = [];
    const service: Service = await openService({
      toClient: (client) => ({
        ...client,
        contracts: {
          ...client.contracts,
          refund: async (...given) => {
            seen.push(...(await service.mirror.refunds.list()).items);
            seen.push(
              await service.mirror.refunds.create(given[0], given[1]).catch((error: unknown) => error),
            );
            return client.contracts.refund(...given);
          },
        },
      }),
    });
    const { mirror, pass, sandbox } = service;
    const contractId = await paid(service);
    const refund = await mirror.refunds.create(contractId, { reason: "Broken" });
    expect(seen).toMatchObject([
      { state: "requested", refundId: null, requestedAt: expect.any(String), initiatedAt: null },
      { code: "already-requested" },
    ]);
    const [truth] = await sandbox.refunds.list();
    expect(refund).toMatchObject({
      refundId: truth?.refundId,
      amountMinor: truth?.amountMinor,
      scope: "contract",
      kind: "full",
    });
    await pass();
    await sandbox.settleRefund(truth?.refundId ?? "");
    await pass();
    expect((await mirror.refunds.list()).items).toMatchObject([
      { refundId: truth?.refundId, state: "succeeded", inferred: false, requestedAt: expect.any(String) },
    ]);
    expect(await openRows(mirror)).toEqual([]);
  });

  it("is named by its webhook when the answer was cut off", async () => {
    const calls: string[] = [];
    const service = await openService({ toClient: counting(calls) });
    const { sandbox, mirror, pass } = service;
    const contractId = await paid(service);
    sandbox.faults.set({ cutConnection: 1 });
    const asked = mirror.refunds.create(contractId, { reason: "Broken" });
    await expect(asked).rejects.toMatchObject({ code: "outcome-unknown" });
    sandbox.faults.clear();
    await pass();
    const [truth] = await sandbox.refunds.list();
    expect((await mirror.refunds.list()).items).toMatchObject([
      { refundId: truth?.refundId, state: "initiated", requestedAt: expect.any(String) },
    ]);
    expect(await openRows(mirror)).toEqual([]);
    expect(calls).toEqual(["create", "refund"]);
  });

  it("is let go by a later read that shows its target unchanged", async () => {
    const service = await openService({
      toClient: (client) => ({
        ...client,
        contracts: {
          ...client.contracts,
          refund: async () => {
            throw new EscrowApiError("outcome-unknown", "cut before it arrived");
          },
        },
      }),
    });
    const { mirror, pass } = service;
    const contractId = await paid(service);
    const ask = () => mirror.refunds.create(contractId, { reason: "Broken" });
    await expect(ask()).rejects.toMatchObject({ code: "outcome-unknown" });
    await mirror.contracts.refresh(contractId);
    await expect(ask()).rejects.toMatchObject({ code: "already-requested" });
    await pass(2 * minuteMs);
    await mirror.reconcile();
    expect((await mirror.refunds.list()).items).toEqual([]);
    await expect(ask()).rejects.toMatchObject({ code: "outcome-unknown" });
  });

  it("keeps its id where both of its webhooks are lost, and reconcile finds how it ended", async () => {
    const service = await openService();
    const { sandbox, mirror, pass } = service;
    const contractId = await paid(service, 3);
    const milestoneId = (await mirror.contracts.get(contractId))?.milestones[0]?.milestoneId;
    sandbox.faults.set({ drop: 1 });
    const { refundId } = await mirror.refunds.create(contractId, { reason: "Broken", milestoneId });
    await pass();
    await sandbox.settleRefund(refundId ?? "");
    await pass(5 * minuteMs);
    await mirror.reconcile();
    expect((await mirror.refunds.list()).items).toMatchObject([
      { refundId, milestoneId, scope: "milestone", state: "succeeded", inferred: true },
    ]);
    expect(await mirror.contracts.get(contractId)).toMatchObject({ status: "Cancelled" });
  });

  it("is gone where the service refuses it", async () => {
    const service = await openService();
    const { mirror } = service;
    const { contract } = await mirror.contracts.create(contractInput(1));
    const asked = mirror.refunds.create(contract.contractId, { reason: "Too early" });
    await expect(asked).rejects.toMatchObject({ code: "error-response", status: 400 });
    expect((await mirror.refunds.list()).items).toEqual([]);
    expect(await openRows(mirror)).toEqual([]);
  });

  it("comes out the same after a rebuild", async () => {
    const service = await openService();
    const { mirror, pass, sandbox } = service;
    const contractId = await paid(service);
    sandbox.faults.set({ cutConnection: 1, drop: 1 });
    await mirror.refunds.create(contractId, { reason: "Broken" }).catch(() => undefined);
    sandbox.faults.clear();
    const before = [await mirror.contracts.get(contractId), await mirror.contracts.history(contractId)];
    expect(before[0]).toMatchObject({ refunds: [{ state: "requested", refundId: null }] });
    await mirror.rebuild();
    expect([await mirror.contracts.get(contractId), await mirror.contracts.history(contractId)]).toEqual(
      before,
    );
    await pass();
  });
});

describe("checkoutUrl", () => {
  it("gives the same page for nine minutes, then a new one, and stores none", async () => {
    const logger = recordingLogger();
    const service = await openService({ mirror: { logger } });
    const { mirror, pass } = service;
    const { contract, checkoutUrl } = await mirror.contracts.create(contractInput(1));
    expect(await mirror.contracts.checkoutUrl(contract.contractId)).toBe(checkoutUrl);
    await pass(10 * minuteMs);
    const renewed = await mirror.contracts.checkoutUrl(contract.contractId);
    expect(renewed).not.toBe(checkoutUrl);
    const token = new URL(checkoutUrl).searchParams.get("token") ?? checkoutUrl;
    const rows = [
      await mirror.db.selectFrom("inputs").selectAll().execute(),
      await mirror.db.selectFrom("intents").selectAll().execute(),
    ];
    expect(JSON.stringify([rows, logger.lines])).not.toContain(token);
  });

  it("is refused by name without a client, as the other calls are", async () => {
    const mirror = await openMirror();
    for (const call of [
      mirror.contracts.checkoutUrl("CNT-1"),
      mirror.contracts.create(contractInput(1)),
      mirror.refunds.create("CNT-1", { reason: "x" }),
    ])
      await expect(call).rejects.toMatchObject({ code: "invalid-configuration" });
  });
});
