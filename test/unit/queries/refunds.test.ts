import { describe, expect, it } from "vitest";
import { at, delivery, eventBody, signed } from "../../support/delivery.ts";
import { openMirror, storeKinds } from "../../support/mirror.ts";
import { openRefunds } from "./given.ts";

describe.each(storeKinds)("on %s", (_, openStore) => {
  const open = () => openMirror({ store: openStore() });

  describe("refunds", () => {
    it.each([
      [{ state: "initiated" }, ["1", "2"]],
      [{ state: "succeeded" }, ["3"]],
      [{ contractId: "A" }, ["1", "2"]],
      [{ state: "initiated", olderThan: 1_800_000 }, ["1"]],
      [{ olderThan: 7_200_000 }, []],
      [{}, ["1", "2", "3"]],
    ] as const)("are listed by %j", async (filter, ids) => {
      expect(
        (await (await openRefunds(openStore())).refunds.list(filter)).items.map(({ refundId }) => refundId),
      ).toEqual(ids);
    });

    it("are found by id, with the contract where two share it", async () => {
      const mirror = await openRefunds(openStore());
      expect(await mirror.refunds.get("3")).toMatchObject({ contractId: "B" });
      expect(await mirror.refunds.get("404")).toBeUndefined();
      await mirror.receive(
        delivery("refund.full-initiated", { id: "4", seconds: 0, contractId: "C", transactionId: 3 }),
      );
      await expect(mirror.refunds.get("3")).rejects.toMatchObject({ code: "invalid-argument" });
      expect(await mirror.refunds.get("3", { contractId: "C" })).toMatchObject({ state: "initiated" });
    });

    it("are not looked for with an option that there is not", async () => {
      const mirror = await openRefunds(openStore());
      for (const options of [{ contractID: "B" }, "B", null, new Map([["contractId", "B"]])])
        await expect(mirror.refunds.get("1", options as never)).rejects.toMatchObject({
          code: "invalid-argument",
          message: expect.stringMatching(/refunds\.get.* contractId$/) as string,
        });
    });

    it("with one id on two contracts flag both, once", async () => {
      const mirror = await open();
      const shared = (contractId: string, id: string) =>
        mirror.receive(delivery("refund.full-initiated", { id, seconds: 0, contractId, transactionId: 7 }));
      await shared("A", "1");
      await shared("B", "2");
      await mirror.receive(
        delivery("refund.full-succeeded", { id: "3", seconds: 9, contractId: "A", transactionId: 7 }),
      );
      const flagged = (await mirror.anomalies.list({ kind: "refund-id-shared" })).items;
      expect(flagged.map(({ contractId }) => contractId)).toEqual(expect.arrayContaining(["A", "B"]));
      await shared("C", "4");
      expect((await mirror.anomalies.list({ kind: "refund-id-shared" })).items).toHaveLength(3);
    });

    it("with one id on two contracts flag both in one commit too", async () => {
      const mirror = await open();
      await Promise.all(
        ["A", "B"].map((contractId) =>
          mirror.receive(
            delivery("refund.full-initiated", { id: contractId, seconds: 0, contractId, transactionId: 7 }),
          ),
        ),
      );
      expect((await mirror.anomalies.list({ kind: "refund-id-shared" })).items).toHaveLength(2);
    });
  });

  it("payments and disputes are listed, by contract too, without our own keys", async () => {
    const mirror = await open();
    await mirror.receive(
      delivery("payment.completed", { id: "1", seconds: 0, contractId: "A", paymentId: "P", amount: 1 }),
    );
    await mirror.receive(
      signed(eventBody("milestone.disputed", { id: "2", seconds: 5, contractId: "B", milestoneId: 1 })),
    );
    expect((await mirror.payments.list()).items).toEqual([
      {
        paymentId: "P",
        contractId: "A",
        milestoneId: null,
        transactionId: null,
        invoiceId: null,
        amountMinor: 100,
        currency: "SAR",
        completedAt: at(0),
      },
    ]);
    expect((await mirror.disputes.list({ contractId: "B" })).items).toEqual([
      { disputeId: null, contractId: "B", milestoneId: "1", raisedAt: at(5) },
    ]);
    expect((await mirror.disputes.list({ contractId: "A" })).items).toEqual([]);
  });
});
