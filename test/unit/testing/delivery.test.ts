import { describe, expect, it } from "vitest";
import {
  buildEvent,
  createTestMirror,
  recordedDeliveries,
  signDelivery,
  testSecret,
} from "../../../src/testing.ts";
import { specEventTypes } from "../../../src/events/event.ts";
import { fixtureDelivery, fixtureNames, otherSecret } from "../../support/delivery.ts";

const earlierTypes = [
  "contract.delivered",
  "contract.received",
  "refund.partial-initiated",
  "refund.partial-succeeded",
] as const;

describe("buildEvent", () => {
  it.each([...specEventTypes, ...earlierTypes])(
    "gives a %s that is applied without an anomaly of its values",
    async (type) => {
      const { mirror, deliver } = await createTestMirror();
      expect(await deliver(buildEvent(type))).toMatchObject({ status: 200, outcome: "applied" });
      const { items } = await mirror.anomalies.list();
      expect(items.filter(({ kind }) => kind !== "gap")).toEqual([]);
      await mirror.close();
    },
  );

  it("tells a whole life by default, each event after the one before", async () => {
    const { mirror, deliver } = await createTestMirror();
    for (const type of [
      "payment.completed",
      "contract.created",
      "refund.full-succeeded",
      "contract.approved",
    ] as const)
      await deliver(buildEvent(type));
    await deliver(buildEvent("refund.full-initiated"));
    const history = await mirror.contracts.history("CNT-2601-00100068");
    expect(history.map(({ to }) => to)).toEqual([
      "pending",
      "Approved",
      "Escrow",
      "RefundInProgress",
      "Refunded",
    ]);
    expect((await mirror.anomalies.list()).items).toEqual([]);
    const [refund] = (await mirror.refunds.list()).items;
    expect(refund).toMatchObject({
      state: "succeeded",
      amountMinor: 60_000,
      initiatedAt: expect.stringMatching(/\.\d{7}Z$/),
    });
    await mirror.close();
  });

  it("gives the same event for the same arguments, and another id for other data", () => {
    expect(buildEvent("contract.created")).toEqual(buildEvent("contract.created"));
    expect(buildEvent("contract.created", { data: { amount: 1 } }).id).not.toBe(
      buildEvent("contract.created").id,
    );
  });

  it("names a milestone as the edition of its event does", () => {
    expect(buildEvent("milestone.refund.full-initiated", { data: { milestoneId: 14 } }).data).toMatchObject({
      milestoneId: 14,
      metadata: { milestoneId: "14" },
    });
    const { data } = buildEvent("refund.full-initiated", {
      data: { milestoneId: "14", metadata: { metadata1: "a" } },
    });
    expect(data.milestoneId).toBeUndefined();
    expect(data.metadata).toEqual({ metadata1: "a", milestoneId: "14" });
  });

  it("leaves out a field that is undefined", () => {
    const { body } = signDelivery(buildEvent("contract.approved", { data: { previousStatus: undefined } }));
    expect(body).not.toContain("previousStatus");
  });
});

describe("signDelivery", () => {
  it.each([
    [600, "600.00"],
    [0.1, "0.10"],
    [1e9, "1000000000.00"],
    [1.005, "1.005"],
  ])("writes the amount %d as %s", (amount, written) => {
    expect(signDelivery(buildEvent("contract.created", { data: { amount } })).body).toContain(
      `"amount":${written},`,
    );
  });

  it("writes names in Pascal case where asked to, and is understood", async () => {
    const { mirror, deliver } = await createTestMirror();
    const delivery = signDelivery(buildEvent("milestone.payment.completed"), { casing: "pascal" });
    expect(delivery.body).toContain('"Metadata":{"MilestoneId":"13"}');
    await deliver(delivery);
    expect(await mirror.contracts.get("CNT-2601-00100068")).toMatchObject({
      milestones: [{ status: "Escrow" }],
    });
    await mirror.close();
  });

  it("signs with the secret that is given", async () => {
    const { mirror, deliver } = await createTestMirror({ secret: otherSecret });
    const event = buildEvent("contract.created");
    expect((await deliver(event)).outcome).toBe("applied");
    expect((await deliver(signDelivery(event))).status).toBe(401);
    expect((await deliver(signDelivery(event, { secret: otherSecret, webhookId: "again" }))).outcome).toBe(
      "duplicate",
    );
    await mirror.close();
  });

  it("signs text and bytes as they are", async () => {
    const { mirror, deliver } = await createTestMirror();
    const { reason } = await deliver(signDelivery(new Uint8Array([0xff])));
    expect(reason).toBe("not-utf8");
    expect((await deliver(signDelivery("no JSON", { webhookId: "wh-2" }))).reason).toBe("not-json");
    await mirror.close();
  });
});

describe("recordedDeliveries", () => {
  it("are the recorded bytes and headers", () => {
    expect(recordedDeliveries.map(({ name }) => name)).toEqual(fixtureNames);
    for (const { name, headers, body } of recordedDeliveries) {
      const recorded = fixtureDelivery(name);
      expect(Buffer.from(body)).toEqual(recorded.body);
      const lower = Object.entries(headers).map(([header, value]) => [header.toLowerCase(), value]);
      expect(Object.fromEntries(lower)).toEqual(recorded.headers);
    }
  });

  it("are answered 200, each of them", async () => {
    const { mirror, deliver } = await createTestMirror({ secret: testSecret });
    for (const delivery of recordedDeliveries) expect((await deliver(delivery)).status).toBe(200);
    await mirror.close();
  });
});
