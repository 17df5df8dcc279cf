import Database from "better-sqlite3";
import { describe, expect, it } from "vitest";
import type { Mirror } from "../../../../src/mirror/create-mirror.ts";
import type { RebuildProgress } from "../../../../src/receiver/by-hand/rebuild.ts";
import { sqlite } from "../../../../src/store/sqlite/store.ts";
import { delivery, fixtureDelivery, fixtureNames } from "../../../support/delivery.ts";
import { openMirror, storeKinds, temporaryFile, testClock } from "../../../support/mirror.ts";

async function openFull(file: string): Promise<Mirror> {
  const mirror = await openMirror({ store: sqlite(file) });
  for (const name of fixtureNames) await mirror.receive(fixtureDelivery(name));
  await mirror.receive(
    delivery("milestone.disputed", { id: "m", seconds: 5, milestoneId: 3, disputeId: "D" }),
  );
  await mirror.receive(delivery("contract.created", { id: "c", seconds: 0, amount: "10.00" }));
  return mirror;
}

async function everythingOf(mirror: Mirror): Promise<unknown> {
  const { items } = await mirror.contracts.list({ limit: 500 });
  const histories = await Promise.all(items.map(({ contractId }) => mirror.contracts.history(contractId)));
  const lists = [
    await mirror.refunds.list(),
    await mirror.payments.list(),
    await mirror.disputes.list(),
    await mirror.anomalies.list(),
  ];
  return { items, histories, lists };
}

describe("rebuild", () => {
  it("changes nothing where nothing is amiss", async () => {
    const mirror = await openFull(temporaryFile());
    const before = await everythingOf(mirror);
    await mirror.rebuild();
    expect(await everythingOf(mirror)).toEqual(before);
  });

  it("says of nothing that it changed which comes out as it was, and of a contract whose parts were lost that it did", async () => {
    const clock = testClock();
    const file = temporaryFile();
    const mirror = await openMirror({ store: sqlite(file), clock });
    for (const name of fixtureNames) await mirror.receive(fixtureDelivery(name));
    await mirror.receive(
      delivery("contract.disputed", { id: "d", seconds: 0, contractId: "CNT-D", disputeId: "D" }),
    );
    const before = await everythingOf(mirror);
    const [lost] = (await mirror.refunds.list({ limit: 1 })).items;
    clock.advance(60_000);
    const since = new Date(clock.now()).toISOString();
    await mirror.rebuild();
    expect(await everythingOf(mirror)).toEqual(before);
    const beside = new Database(file);
    beside.prepare("delete from escrow_refunds where refund_id = ?").run(lost?.refundId);
    beside.close();
    await mirror.rebuild();
    const { items } = await mirror.contracts.list({ changedSince: since });
    expect(items.map(({ contractId }) => contractId)).toEqual([lost?.contractId]);
  });

  it("makes whole again what was changed or lost beside us", async () => {
    const file = temporaryFile();
    const mirror = await openFull(file);
    const before = await everythingOf(mirror);
    const beside = new Database(file);
    beside.exec("update escrow_contracts set status = 'Nonsense', title = 'x', amount_minor = 1");
    beside.exec(
      "delete from escrow_refunds; delete from escrow_milestones; delete from escrow_payments; delete from escrow_disputes",
    );
    beside.exec("update escrow_transitions set to_status = 'Nonsense'");
    beside.close();
    await mirror.rebuild();
    expect(await everythingOf(mirror)).toEqual(before);
  });

  it("needs no raw bodies", async () => {
    const file = temporaryFile();
    const mirror = await openFull(file);
    const before = await everythingOf(mirror);
    const beside = new Database(file);
    beside.exec("delete from escrow_payloads; delete from escrow_contracts; delete from escrow_milestones");
    beside.close();
    await mirror.rebuild();
    expect(await everythingOf(mirror)).toEqual(before);
  });

  it("tells how far it is, and stops before the next contract when it is told to", async () => {
    const mirror = await openFull(temporaryFile());
    const { total } = await mirror.contracts.count();
    const seen: RebuildProgress[] = [];
    expect(await mirror.rebuild({ onProgress: (progress) => seen.push(progress) })).toEqual({
      done: total,
      total,
    });
    expect(seen.map(({ done }) => done)).toEqual(Array.from({ length: total }, (_, index) => index + 1));
    const stop = new AbortController();
    const stopped = mirror.rebuild({
      signal: stop.signal,
      onProgress: () => stop.abort(new Error("enough")),
    });
    await expect(stopped).rejects.toThrow("enough");
  });

  describe.each(storeKinds)("on %s", (_, openStore) => {
    const contracts = 300;

    async function openWithMany(): Promise<Mirror> {
      const mirror = await openMirror({ store: openStore() });
      const names = Array.from({ length: contracts }, (__, n) => `CNT-${n}`);
      await Promise.all(
        names.map((contractId) =>
          mirror.receive(delivery("contract.created", { id: contractId, contractId, seconds: 0 })),
        ),
      );
      return mirror;
    }

    it("notices a signal that the event loop brings, between two contracts", async () => {
      const mirror = await openWithMany();
      const stop = new AbortController();
      let done = 0;
      const rebuilding = mirror.rebuild({
        signal: stop.signal,
        onProgress: (progress) => (done = progress.done),
      });
      setImmediate(() => stop.abort(new Error("enough")));
      await expect(rebuilding).rejects.toThrow("enough");
      expect(done).toBeLessThan(contracts);
    });

    it("answers a webhook before its end", async () => {
      const mirror = await openWithMany();
      const ends: string[] = [];
      const rebuilding = mirror.rebuild().then(() => ends.push("rebuild"));
      await new Promise((resolve) => setImmediate(resolve));
      const answer = await mirror.receive(delivery("contract.approved", { id: "late", contractId: "CNT-1" }));
      ends.push("webhook");
      await rebuilding;
      expect([answer.status, ends]).toEqual([200, ["webhook", "rebuild"]]);
    });
  });

  it("goes on while deliveries come in", async () => {
    const mirror = await openFull(temporaryFile());
    const rebuilding = mirror.rebuild();
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        mirror.receive(
          delivery("contract.created", { id: `n-${index}`, seconds: index, contractId: `CNT-N${index % 4}` }),
        ),
      ),
    );
    await rebuilding;
    expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(200));
    const before = await everythingOf(mirror);
    await mirror.rebuild();
    expect(await everythingOf(mirror)).toEqual(before);
  });
});
