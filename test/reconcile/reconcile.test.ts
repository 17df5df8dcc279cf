/** The mirror asks the service: against the sandbox, over HTTP. Full counts with SOAK=1. */
import { describe, expect, it } from "vitest";
import type { Drift } from "../../src/reconcile/drift.ts";
import type { ReconcileProgress } from "../../src/reconcile/reconcile.ts";
import type { MirroredRefund } from "../../src/queries/shapes.ts";
import { manualClock, type SandboxRefund } from "../../src/sandbox.ts";
import { sqlite } from "../../src/store/sqlite/store.ts";
import { openMirror } from "../support/mirror.ts";
import { createRandom } from "../simulation/random.ts";
import { compareAll, contractInput, minuteMs, openService, takeAnyStep, type Service } from "./support.ts";

const isSoak = process.env["SOAK"] !== undefined;
const seed = Number(process.env["SEED"] ?? Date.now() % 1_000_000);
const fast = { concurrency: 16, perSecondMax: 10_000 };

async function makeContract({ client, pass }: Service, index: number): Promise<string> {
  const { contractId } = await client.contracts.create(contractInput(index));
  if (index % 50 === 0) await pass(1000);
  return contractId;
}

/** The fields of a refund that the mirror and the sandbox both show. */
function refundShown({ refundId, state, amountMinor }: MirroredRefund | SandboxRefund) {
  return { refundId, state, amountMinor };
}

describe("reconcile", () => {
  it(`heals contracts whose webhooks were dropped at random, contract by contract (SEED=${seed})`, async () => {
    const service = await openService({ sandbox: { concurrency: 8 } });
    const { sandbox, mirror, pass } = service;
    const random = createRandom(seed);
    const ids: string[] = [];
    for (let index = 0; index < (isSoak ? 500 : 50); index++) ids.push(await makeContract(service, index));
    await pass();
    await mirror.contracts.import(ids, fast);
    sandbox.faults.set({ drop: 0.3 }, { seed });
    for (let step = 0; step < 6; step++) {
      for (const id of ids) await takeAnyStep(sandbox, id, random);
      await pass();
    }
    const before = await compareAll(service);
    expect(before.mirror).not.toEqual(before.service);
    const report = await mirror.reconcile(fast);
    const after = await compareAll(service);
    expect(after.mirror).toEqual(after.service);
    expect(report).toMatchObject({ failed: 0, failures: [] });
    expect(report.healed).toBeGreaterThan(0);
    expect(report.unreadable).toEqual(
      expect.arrayContaining([expect.stringContaining("payments"), expect.stringContaining("disputes")]),
    );
    expect(await mirror.reconcile(fast)).toMatchObject({ healed: 0, failed: 0, drift: [] });
  });

  it(`keeps the refunds of own calls, whichever webhooks were dropped (SEED=${seed})`, async () => {
    const service = await openService({ sandbox: { concurrency: 8 } });
    const { sandbox, mirror, pass } = service;
    const random = createRandom(seed);
    sandbox.faults.set({ drop: 0.3 }, { seed });
    const ids: string[] = [];
    for (let index = 0; index < (isSoak ? 500 : 50); index++) {
      ids.push((await mirror.contracts.create(contractInput(index))).contract.contractId);
      if (index % 50 === 0) await pass(1000);
    }
    for (const action of ["approve", "pay"] as const) {
      for (const id of ids) await sandbox.act(id, action);
      await pass();
    }
    for (const id of ids) {
      const [milestone] = (await sandbox.contracts.get(id))?.milestones ?? [];
      const { refundId } = await mirror.refunds.create(id, {
        reason: "Broken",
        milestoneId: milestone?.milestoneId,
      });
      if (random.below(2) === 0) await sandbox.settleRefund(refundId ?? expect.fail("the answer names it"));
    }
    await pass();
    expect(await mirror.reconcile(fast)).toMatchObject({ failed: 0 });
    const after = await compareAll(service);
    expect(after.mirror).toEqual(after.service);
    for (const id of ids) {
      const told = (await mirror.contracts.get(id))?.refunds.map(refundShown);
      expect(told).toEqual((await sandbox.contracts.get(id))?.refunds.map(refundShown));
    }
  });

  it("tells of one lost contract.released, and heals it", async () => {
    const service = await openService();
    const { sandbox, mirror, pass } = service;
    const id = await makeContract(service, 1);
    for (const action of ["approve", "pay"] as const) {
      await pass();
      await sandbox.act(id, action);
    }
    await pass();
    sandbox.faults.set({ drop: 1 });
    await sandbox.act(id, "release");
    await pass();
    expect(await mirror.contracts.get(id)).toMatchObject({ status: "Escrow" });
    const drift: Drift[] = [
      { contractId: id, milestoneId: null, field: "status", mirror: "Escrow", service: "Released" },
    ];
    expect(await mirror.reconcile({ dryRun: true })).toMatchObject({
      checked: 1,
      healed: 0,
      failed: 0,
      drift,
    });
    expect(await mirror.contracts.get(id)).toMatchObject({ status: "Escrow" });
    expect(await mirror.reconcile()).toMatchObject({ checked: 1, healed: 1, failed: 0, drift });
    expect(await mirror.contracts.get(id)).toMatchObject({ status: "Released", title: "Contract 1" });
  });

  it("takes what was erased for no difference, and shows it in no report", async () => {
    const service = await openService();
    const { sandbox, mirror, pass } = service;
    const id = await makeContract(service, 3);
    await pass();
    await mirror.contracts.refresh(id);
    await mirror.redact(id);
    expect(await mirror.reconcile({ dryRun: true })).toMatchObject({ checked: 1, drift: [] });
    expect(await mirror.reconcile()).toMatchObject({ checked: 1, healed: 0, failed: 0, drift: [] });
    sandbox.faults.set({ drop: 1 });
    await sandbox.act(id, "approve");
    await pass();
    const { healed, drift } = await mirror.reconcile();
    expect([healed, drift.map(({ field }) => field)]).toEqual([1, ["status"]]);
    expect(await mirror.contracts.get(id)).toMatchObject({
      status: "Approved",
      reference: null,
      buyer: null,
    });
  });

  it("does not ask for an id that only an erasure names, until something else names it", async () => {
    const service = await openService({ sandbox: { retryDelaysMs: [] } });
    const { sandbox, mirror, pass } = service;
    expect(await mirror.redact("CNT-2611-00999999")).toMatchObject({ known: false });
    expect(await mirror.reconcile()).toMatchObject({ checked: 0, failed: 0 });
    sandbox.faults.set({ corruptSignature: 1 });
    const id = await makeContract(service, 1);
    await pass();
    expect(await mirror.redact(id)).toMatchObject({ known: false });
    // The service's log names it.
    expect(await mirror.reconcile()).toMatchObject({ checked: 1, healed: 1, failed: 0 });
    expect(await mirror.contracts.get(id)).toMatchObject({ status: "pending", buyer: null });
  });

  it("reads contracts that only the delivery log names", async () => {
    const service = await openService({ sandbox: { retryDelaysMs: [] } });
    const { sandbox, mirror, pass } = service;
    sandbox.faults.set({ corruptSignature: 1 });
    const ids = [await makeContract(service, 1), await makeContract(service, 2)];
    await pass();
    expect(await mirror.contracts.count()).toMatchObject({ total: 0 });
    expect(await mirror.reconcile()).toMatchObject({ checked: 2, healed: 2, failed: 0 });
    expect((await mirror.contracts.list()).items.map(({ contractId }) => contractId)).toEqual(ids);
    expect(await mirror.reconcile({ since: new Date(sandbox.clock.now()) })).toMatchObject({ checked: 2 });
  });

  it("reads a contract that has ended once more, and then no more", async () => {
    const service = await openService();
    const { sandbox, mirror, pass } = service;
    const id = await makeContract(service, 1);
    await pass();
    await sandbox.act(id, "approve");
    await pass();
    sandbox.faults.set({ drop: 1 });
    for (const action of ["pay", "release"] as const) await sandbox.act(id, action);
    sandbox.faults.clear();
    await pass();
    await sandbox.act(id, "complete");
    await pass(5 * minuteMs);
    expect(await mirror.anomalies.list({ kind: "gap" })).toMatchObject({ items: [{ contractId: id }] });
    expect(await mirror.reconcile()).toMatchObject({ checked: 1, healed: 0, failed: 0 });
    expect(await mirror.reconcile()).toMatchObject({ checked: 0 });
  });

  it("keeps the fault of one contract from the others", async () => {
    const service = await openService({
      toClient: (client) => ({
        ...client,
        contracts: {
          ...client.contracts,
          get: (id, options) => client.contracts.get(id === "CNT-2" ? "CNT-0" : id, options),
        },
      }),
    });
    const { mirror, client } = service;
    const { contractId } = await client.contracts.create(contractInput(1));
    const imported = await mirror.contracts.import([contractId, "CNT-9", "CNT-2"]);
    expect(imported).toMatchObject({
      imported: 1,
      failed: 2,
      failures: [
        { contractId: "CNT-9", code: "error-response" },
        { contractId: "CNT-2", code: "error-response" },
      ],
    });
  });

  it("goes on where a run was stopped, and reads nothing twice", async () => {
    const reads: string[] = [];
    let nowMs = manualClock().now();
    const service = await openService({
      mirror: { clock: { now: () => nowMs++ } },
      toClient: (client) => ({
        ...client,
        contracts: {
          ...client.contracts,
          get: (id, options) => {
            reads.push(id);
            return client.contracts.get(id, options);
          },
        },
      }),
    });
    const { mirror, pass } = service;
    const ids: string[] = [];
    for (let index = 0; index < 30; index++) ids.push(await makeContract(service, index));
    await pass();
    const stop = new AbortController();
    const onProgress = ({ checked }: ReconcileProgress): void => {
      if (checked === 10) stop.abort(new Error("stopped"));
    };
    await expect(
      mirror.reconcile({ concurrency: 1, perSecondMax: 10_000, onProgress, signal: stop.signal }),
    ).rejects.toThrow("stopped");
    expect(reads.length).toBeLessThan(12);
    await pass(1000);
    expect(await mirror.reconcile(fast)).toMatchObject({ failed: 0 });
    expect(reads.toSorted()).toEqual(ids.toSorted());
  });

  it("ends when the service is down, with the client's error", async () => {
    const service = await openService({ sandbox: { concurrency: 8 } });
    for (let index = 0; index < 30; index++) await makeContract(service, index);
    await service.pass();
    await service.sandbox.close();
    await expect(service.mirror.reconcile(fast)).rejects.toMatchObject({ code: "unreachable" });
  });
});

describe("import", () => {
  it("makes a mirror equal to a service that is older than it", async () => {
    const service = await openService();
    const { sandbox, mirror, pass } = service;
    const random = createRandom(seed);
    sandbox.faults.set({ drop: 1 });
    const ids: string[] = [];
    for (let index = 0; index < (isSoak ? 1000 : 60); index++) {
      const id = await makeContract(service, index);
      ids.push(id);
      for (let step = random.below(6); step > 0; step--) await takeAnyStep(sandbox, id, random);
    }
    await pass();
    async function* given() {
      yield* ids;
    }
    expect(await mirror.contracts.import(given(), fast)).toMatchObject({ imported: ids.length, failed: 0 });
    const { mirror: mirrored, service: truth } = await compareAll(service);
    expect(mirrored).toEqual(truth);
  });

  it("refuses one id in place of a list, and options that there are not", async () => {
    const { mirror } = await openService();
    await expect(mirror.contracts.import("CNT-1")).rejects.toMatchObject({ code: "invalid-argument" });
    await expect(mirror.contracts.import([], { concurrency: 0 })).rejects.toMatchObject({
      code: "invalid-argument",
    });
    await expect(mirror.reconcile({ dryrun: true } as object)).rejects.toMatchObject({
      code: "invalid-argument",
    });
  });
});

describe("refresh", () => {
  it("brings what webhooks do not: the parties, the title, the amounts of milestones", async () => {
    const service = await openService();
    const id = await makeContract(service, 3);
    await service.pass();
    expect(await service.mirror.contracts.refresh(id)).toMatchObject({
      title: "Contract 3",
      buyer: { firstName: "Alia", phoneNumber: "+966500000001" },
      milestones: [{ name: "First part", amountMinor: 6863 }, { name: "Second part" }],
      syncedAt: expect.any(String),
    });
  });

  it("loses to events that pass while its answer is on the way", async () => {
    const service = await openService();
    const { sandbox, mirror, pass } = service;
    const id = await makeContract(service, 1);
    await pass();
    sandbox.faults.set({ slowReads: 1, slowReadMs: [700, 700] });
    const reading = mirror.contracts.refresh(id);
    await new Promise((resolve) => setTimeout(resolve, 200));
    for (const action of ["approve", "pay", "release", "complete"] as const) {
      await sandbox.act(id, action);
      await pass(1000);
    }
    await reading;
    expect(await mirror.contracts.get(id)).toMatchObject({ status: "Completed" });
  });

  it("is refused by name without a client", async () => {
    const mirror = await openMirror({ store: sqlite(":memory:") });
    for (const call of [
      mirror.contracts.refresh("CNT-1"),
      mirror.contracts.import(["CNT-1"]),
      mirror.reconcile(),
    ])
      await expect(call).rejects.toMatchObject({
        code: "invalid-configuration",
        message: expect.stringContaining("option client"),
      });
  });
});

describe("waitFor", () => {
  it("asks the service where the webhook is lost", async () => {
    const service = await openService();
    const { sandbox, mirror, pass } = service;
    const id = await makeContract(service, 1);
    await pass();
    sandbox.faults.set({ drop: 1 });
    await sandbox.act(id, "approve");
    await pass();
    expect(await mirror.contracts.waitFor(id, "Approved")).toMatchObject({ status: "Approved" });
  });
});
