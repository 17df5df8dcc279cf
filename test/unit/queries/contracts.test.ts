import { describe, expect, it } from "vitest";
import { at, delivery, noonMs } from "../../support/delivery.ts";
import { openMirror, storeKinds, testClock } from "../../support/mirror.ts";
import { create, idsOf, openSome } from "./given.ts";

const manyNames = (count: number) => Array.from({ length: count }, (_, index) => `S${index}`);

describe.each(storeKinds)("on %s", (_, openStore) => {
  const open = () => openMirror({ store: openStore() });

  describe("contracts.get", () => {
    it("gives the contract with all that is known of it", async () => {
      const clock = testClock(noonMs + 1_000_000);
      const mirror = await openMirror({ store: openStore(), clock });
      await create(mirror, "CNT-1", {
        amount: "600.00",
        reference: "R",
        metadata: { metadata1: "m1", metadata3: "m3" },
      });
      await mirror.receive(
        delivery("milestone.payment.completed", { id: "m2", seconds: 20, milestoneId: 10, paymentId: "P" }),
      );
      await mirror.receive(
        delivery("milestone.payment.completed", { id: "m1", seconds: 21, milestoneId: 9, paymentId: "P" }),
      );
      await mirror.receive(
        delivery("milestone.refund.full-initiated", {
          id: "r",
          seconds: 30,
          milestoneId: 9,
          transactionId: 77,
          amount: 5,
          previousStatus: "Escrow",
        }),
      );
      expect(await mirror.contracts.get("CNT-1")).toEqual({
        contractId: "CNT-1",
        reference: "R",
        status: "RefundInProgress",
        statusSince: at(30),
        previousStatus: "pending",
        title: null,
        description: null,
        notes: null,
        businessName: null,
        serviceType: null,
        amountMinor: 60000,
        currency: "SAR",
        metadata: { metadata1: "m1", metadata3: "m3" },
        buyer: null,
        seller: null,
        milestones: [
          {
            contractId: "CNT-1",
            milestoneId: "9",
            name: null,
            description: null,
            status: "RefundInProgress",
            statusSince: at(30),
            previousStatus: "Escrow",
            amountMinor: null,
            dueDate: null,
          },
          {
            contractId: "CNT-1",
            milestoneId: "10",
            name: null,
            description: null,
            status: "Escrow",
            statusSince: at(20),
            previousStatus: null,
            amountMinor: null,
            dueDate: null,
          },
        ],
        refunds: [
          {
            contractId: "CNT-1",
            refundId: "77",
            milestoneId: "9",
            scope: "milestone",
            kind: "full",
            state: "initiated",
            inferred: false,
            amountMinor: 500,
            currency: "SAR",
            requestedAt: null,
            initiatedAt: at(30),
            succeededAt: null,
          },
        ],
        createdAt: at(0),
        updatedAt: at(30),
        changedAt: at(1000),
        syncedAt: null,
      });
    });

    it("gives undefined for a contract that nothing told of", async () => {
      expect(await (await open()).contracts.get("CNT-404")).toBeUndefined();
    });

    it("finds a GUID in any case and braces, and other ids only as they are", async () => {
      const mirror = await open();
      const guid = "0f8fad5b-d9cb-469f-a165-70867728950e";
      await create(mirror, guid.toUpperCase());
      expect(await mirror.contracts.get(`{${guid}}`)).toMatchObject({ contractId: guid });
      await create(mirror, "abC");
      expect(await mirror.contracts.get("abc")).toBeUndefined();
    });

    it("shows a contract that only milestones told of as unknown", async () => {
      const mirror = await open();
      await mirror.receive(delivery("milestone.released", { seconds: 0, milestoneId: 1 }));
      expect(await mirror.contracts.get("CNT-1")).toMatchObject({ status: "unknown" });
      expect(idsOf((await mirror.contracts.list({ status: "unknown" })).items)).toEqual(["CNT-1"]);
    });

    it("refuses an id that is no text before it asks the store, and so does history", async () => {
      const mirror = await open();
      // A closed store refuses every read.
      await mirror.close();
      const refused = { code: "invalid-argument" };
      await expect(mirror.contracts.get(7 as never)).rejects.toMatchObject(refused);
      await expect(mirror.contracts.history(7 as never)).rejects.toMatchObject(refused);
    });
  });

  describe("contracts.list", () => {
    it.each([
      [{ status: "Escrow" }, ["B"]],
      [{ status: "ESCROW" }, ["B"]],
      [{ status: ["Escrow", "Dispute"] }, ["B", "C"]],
      [{ status: "Frozen" }, ["D"]],
      [{ status: [] }, []],
      [{ reference: "R-1" }, ["A"]],
      [{ metadata1: "x" }, ["A", "B"]],
      [{ metadata1: "x", metadata4: "y" }, ["B"]],
      [{ changedSince: at(60) }, ["C", "D"]],
      [{ changedSince: new Date(noonMs + 60_000) }, ["C", "D"]],
      [{ changedSince: at(61) }, []],
      [{ status: "pending", reference: "R-2" }, []],
      [{}, ["A", "B", "C", "D"]],
    ])("filters by %j", async (filter, ids) => {
      expect(idsOf((await (await openSome(openStore())).contracts.list(filter)).items)).toEqual(ids);
    });

    it("refuses a time that is none", async () => {
      const mirror = await open();
      await expect(mirror.contracts.list({ changedSince: "yesterday" })).rejects.toMatchObject({
        code: "invalid-argument",
      });
      await expect(mirror.contracts.list({ changedSince: new Date(Number.NaN) })).rejects.toMatchObject({
        code: "invalid-argument",
      });
    });

    it("takes 100 names of statuses, and no more", async () => {
      const mirror = await openSome(openStore());
      expect(idsOf((await mirror.contracts.list({ status: [...manyNames(99), "Escrow"] })).items)).toEqual([
        "B",
      ]);
      for (const count of [101, 40_000])
        await expect(mirror.contracts.list({ status: manyNames(count) })).rejects.toMatchObject({
          code: "invalid-argument",
        });
    });

    it("gives children of each contract to it alone", async () => {
      const mirror = await open();
      for (const contractId of ["A", "B"])
        await mirror.receive(
          delivery("milestone.released", {
            id: contractId,
            seconds: 0,
            contractId,
            milestoneId: contractId === "A" ? 1 : 2,
          }),
        );
      const { items } = await mirror.contracts.list();
      expect(items.map(({ milestones }) => milestones.map(({ milestoneId }) => milestoneId))).toEqual([
        ["1"],
        ["2"],
      ]);
    });
  });

  it("contracts.count counts by status", async () => {
    const mirror = await open();
    await create(mirror, "A");
    await create(mirror, "B");
    await create(mirror, "C", { status: "Escrow" });
    await mirror.receive(delivery("milestone.released", { seconds: 0, contractId: "D", milestoneId: 1 }));
    expect(await mirror.contracts.count()).toEqual({
      total: 4,
      byStatus: { pending: 2, Escrow: 1, unknown: 1 },
    });
  });

  it("contracts.history is in key order, whatever the order of arrival, and empty for a stranger", async () => {
    const mirror = await open();
    await mirror.receive(delivery("contract.released", { id: "3", seconds: 30 }));
    await mirror.receive(delivery("contract.created", { id: "1", seconds: 10 }, { webhookId: "wh-1" }));
    await mirror.receive(delivery("milestone.released", { id: "2", seconds: 20, milestoneId: 4 }));
    const history = await mirror.contracts.history("CNT-1");
    expect(history.map(({ to, occurredAt }) => [to, occurredAt])).toEqual([
      ["pending", at(10)],
      ["Released", at(20)],
      ["Released", at(30)],
    ]);
    expect(history[0]).toEqual({
      contractId: "CNT-1",
      milestoneId: null,
      entity: "contract",
      from: null,
      to: "pending",
      event: "contract.created",
      webhookId: "wh-1",
      occurredAt: at(10),
      moved: true,
      derived: false,
      source: "spec",
      anomaly: null,
    });
    expect(await mirror.contracts.history("CNT-404")).toEqual([]);
  });

  it("history and anomalies get shorter when a late event explains them", async () => {
    const mirror = await open();
    await create(mirror, "CNT-1");
    await mirror.receive(
      delivery("payment.completed", { id: "p", seconds: 20, previousStatus: "Approved", paymentId: "P" }),
    );
    expect((await mirror.anomalies.list()).items.map(({ kind }) => kind)).toEqual(["gap"]);
    await mirror.receive(delivery("contract.approved", { id: "a", seconds: 10, previousStatus: "pending" }));
    expect((await mirror.anomalies.list()).items).toEqual([]);
    expect((await mirror.contracts.history("CNT-1")).map(({ anomaly }) => anomaly)).toEqual([
      null,
      null,
      null,
    ]);
  });
});
