/** Semantics §5.1: times that the service did not give are the earliest arrival of the delivery that set them, and stay. */
import { describe, expect, it } from "vitest";
import type { Mirror } from "../../../src/mirror/create-mirror.ts";
import { sqlite } from "../../../src/store/sqlite/store.ts";
import { at, delivery, noonMs, type EventShape } from "../../support/delivery.ts";
import { openMirror, storeKinds, temporaryFile, testClock } from "../../support/mirror.ts";

/** Reads as many seconds after noon as the test says. */
function handClock() {
  let nowMs = noonMs;
  return { now: () => nowMs, set: (seconds: number) => (nowMs = noonMs + seconds * 1000) };
}

async function openAt(store = sqlite(":memory:")) {
  const clock = handClock();
  const mirror = await openMirror({ store, clock });
  const send = async (seconds: number, type: string, shape: EventShape = {}, webhookId?: string) => {
    clock.set(seconds);
    return mirror.receive(delivery(type, shape, webhookId === undefined ? {} : { webhookId }));
  };
  return { mirror, clock, send };
}

async function shownOf(mirror: Mirror, contractId = "CNT-1") {
  const contract = await mirror.contracts.get(contractId);
  const { changedAt: _, ...shown } = contract ?? { changedAt: "" };
  const [anomalies, payments, disputes] = [
    (await mirror.anomalies.list()).items,
    (await mirror.payments.list()).items,
    (await mirror.disputes.list()).items,
  ];
  return { ...shown, anomalies, payments, disputes };
}

describe.each(storeKinds)("without a time of the service's, on %s", (_, openStore) => {
  it("status and update stay with the delivery that set them when another moves nothing", async () => {
    const { mirror, send } = await openAt(openStore());
    await send(1, "contract.created", { id: "a" });
    await send(50, "contract.created", { id: "b" });
    await send(90, "contract.received", { id: "c", status: "pending" });
    expect(await mirror.contracts.get("CNT-1")).toMatchObject({
      statusSince: at(1),
      updatedAt: at(1),
      createdAt: at(1),
    });
  });

  it("they go on with the one that moves the contract or a milestone", async () => {
    const { mirror, send } = await openAt(openStore());
    await send(1, "contract.created", { id: "a" });
    await send(50, "contract.approved", { id: "b", previousStatus: "pending" });
    expect(await mirror.contracts.get("CNT-1")).toMatchObject({ statusSince: at(50), updatedAt: at(50) });
    await send(70, "milestone.payment.completed", { id: "c", milestoneId: 13, paymentId: "P" });
    expect(await mirror.contracts.get("CNT-1")).toMatchObject({
      statusSince: at(50),
      updatedAt: at(70),
      milestones: [{ milestoneId: "13", statusSince: at(70) }],
    });
  });

  it("anomalies, payments, disputes and refunds have that of their delivery", async () => {
    const { mirror, send } = await openAt(openStore());
    await send(1, "payment.completed", { id: "p", paymentId: "P-1" });
    await send(2, "contract.disputed", { id: "d", disputeId: "D-1", previousStatus: "Escrow" });
    await send(3, "refund.full-initiated", { id: "i", transactionId: "T-1", previousStatus: "Dispute" });
    await send(4, "refund.full-succeeded", {
      id: "s",
      transactionId: "T-1",
      previousStatus: "RefundInProgress",
    });
    await send(5, "settlement.reported", { id: "u" });
    const { anomalies, payments, disputes } = await shownOf(mirror);
    expect(payments).toMatchObject([{ completedAt: at(1) }]);
    expect(disputes).toMatchObject([{ raisedAt: at(2) }]);
    expect((await mirror.refunds.list()).items).toMatchObject([{ initiatedAt: at(3), succeededAt: at(4) }]);
    expect(anomalies.map((each) => [each.kind, each.at])).toEqual(
      expect.arrayContaining([
        ["gap", at(1)],
        ["no-time", at(1)],
        ["no-time", at(2)],
        ["no-time", at(3)],
        ["no-time", at(4)],
        ["unknown-event", at(5)],
      ]),
    );
    expect((await mirror.contracts.history("CNT-1")).map(({ occurredAt }) => occurredAt)).toEqual([
      null,
      null,
      null,
      null,
    ]);
  });

  it("a time that the service gave goes before any arrival", async () => {
    const { mirror, send } = await openAt(openStore());
    await send(500, "contract.created", { id: "a" });
    await send(600, "contract.approved", { id: "b", seconds: -100, previousStatus: "pending" });
    await send(700, "contract.received", { id: "c" });
    expect(await mirror.contracts.get("CNT-1")).toMatchObject({
      createdAt: at(500),
      statusSince: at(-100),
      updatedAt: at(-100),
    });
  });

  it("a contract of which only a milestone is known has that of the first", async () => {
    const { mirror, send } = await openAt(openStore());
    await send(1, "milestone.payment.completed", { id: "a", milestoneId: 13, paymentId: "P" });
    await send(9, "milestone.released", { id: "b", milestoneId: 13, previousStatus: "Escrow", seconds: 40 });
    expect(await mirror.contracts.get("CNT-1")).toMatchObject({
      status: "unknown",
      statusSince: at(1),
      updatedAt: at(40),
    });
  });

  it("a rebuild, another copy and a later event move none of them", async () => {
    const { mirror, clock, send } = await openAt(openStore());
    await send(1, "contract.created", { id: "a" });
    await send(2, "contract.disputed", { id: "d", disputeId: "D-1" });
    await send(3, "payment.completed", { id: "p", paymentId: "P-1" });
    await send(4, "settlement.reported", { id: "u" });
    const before = await shownOf(mirror);
    clock.set(5000);
    await mirror.rebuild();
    expect(await shownOf(mirror)).toEqual(before);
    await send(6000, "contract.disputed", { id: "d", disputeId: "D-1" }, "another");
    expect(await shownOf(mirror)).toEqual(before);
    await send(7000, "contract.received", { id: "r", seconds: 9000 });
    expect(await shownOf(mirror)).toEqual({ ...before, updatedAt: at(9000) });
  });

  it("batches and the order in them decide nothing", async () => {
    const { mirror, clock } = await openAt(openStore());
    const other = await openAt(openStore());
    clock.set(3);
    const shapes: [string, EventShape][] = [
      ["contract.created", { id: "a" }],
      ["payment.completed", { id: "p", paymentId: "P" }],
      ["settlement.reported", { id: "u" }],
      ["milestone.disputed", { id: "m", milestoneId: 13 }],
    ];
    await Promise.all(shapes.map(([type, shape]) => mirror.receive(delivery(type, shape))));
    for (const [type, shape] of shapes.toReversed()) await other.send(3, type, shape);
    expect({ ...(await shownOf(mirror)), anomalies: [] }).toEqual({
      ...(await shownOf(other.mirror)),
      anomalies: [],
    });
  });
});

describe("of two processes, of which the one commits first what arrived later", () => {
  it.each([
    ["an event that moves", "contract.created", {}],
    ["an event that moves nothing", "contract.received", {}],
    ["an event of no family", "settlement.reported", {}],
    ["a dispute", "contract.disputed", { disputeId: "D" }],
  ])("%s is as old as its earliest copy", async (_, type, shape) => {
    const file = temporaryFile();
    const late = await openMirror({ store: sqlite(file), clock: testClock(noonMs + 9000) });
    const early = await openMirror({ store: sqlite(file), clock: testClock(noonMs + 2000) });
    const sent = delivery(type, { id: "a", ...shape });
    expect((await late.receive(sent)).outcome).toBe("applied");
    expect((await early.receive(sent)).outcome).toBe("duplicate");
    expect((await late.receive(sent)).outcome).toBe("duplicate");
    const [row] = (await late.deliveries.list()).items;
    expect(row).toMatchObject({ receivedAt: at(2), lastReceivedAt: at(9), attempts: 3 });
    const { anomalies, disputes, ...shown } = await shownOf(late);
    expect(new Set(anomalies.map((each) => each.at))).toEqual(new Set([at(2)]));
    for (const dispute of disputes) expect(dispute.raisedAt).toBe(at(2));
    if (type !== "settlement.reported") expect(shown).toMatchObject({ statusSince: at(2), updatedAt: at(2) });
    await late.rebuild();
    expect(await shownOf(late)).toEqual({ anomalies, disputes, ...shown });
  });

  it("other content under its ids is no copy of it", async () => {
    const file = temporaryFile();
    const late = await openMirror({ store: sqlite(file), clock: testClock(noonMs + 9000) });
    const early = await openMirror({ store: sqlite(file), clock: testClock(noonMs + 2000) });
    await late.receive(delivery("contract.created", { id: "a" }, { webhookId: "w" }));
    await early.receive(delivery("contract.created", { id: "a", reference: "other" }, { webhookId: "w" }));
    expect(await late.contracts.get("CNT-1")).toMatchObject({ statusSince: at(9) });
    expect(await late.deliveries.get("w")).toMatchObject({ receivedAt: at(9), attempts: 2 });
  });
});
