/** What an API read does beside moving: fields, history, milestones, our own requests. */
import { describe, expect, it } from "vitest";
import type { SnapshotMilestone } from "../../../src/events/snapshot.ts";
import { at, event, foldOf, kindsOf, noonMs, snapshot, type SnapshotShape } from "../../support/delivery.ts";
import { asked } from "./refunds/own-calls.ts";

const created = event("contract.created", { seconds: 0 });
const milestonePaid = event("milestone.payment.completed", { seconds: 0, milestoneId: 13, paymentId: "P" });
const guid = "0f8fad5b-d9cb-469f-a165-70867728950e";
const described = (milestoneId: string, more: Partial<SnapshotMilestone> = {}): SnapshotMilestone => ({
  milestoneId,
  status: null,
  name: "One",
  amountMinor: 500,
  dueDate: "2026-05-01T00:00:00Z",
  ...more,
});
/** A read that reached us some seconds after noon, whatever its own time. */
const readAt = (received: number, shape: SnapshotShape) => ({ ...snapshot(shape), receivedAt: at(received) });

describe("a read", () => {
  it("that shows what is known leaves no line in the history, of the contract or of a milestone", () => {
    const milestones = [{ milestoneId: "13", status: "Escrow" }];
    const read = snapshot({ seconds: 100, status: "pending", milestones });
    expect(foldOf(created, milestonePaid, read).transitions.map((line) => line.event)).toEqual([
      "contract.created",
      "milestone.payment.completed",
    ]);
  });

  it("moves by itself, not because of a milestone: an ended contract stays ended", () => {
    const read = snapshot({ seconds: 100, status: "Cancelled" });
    const state = foldOf(created, read, event("contract.approved", { seconds: 300 }));
    expect(state.contract).toMatchObject({ status: "Cancelled", statusDerived: false });
    expect(state.transitions.map(({ derived }) => derived)).toEqual([false, false, false]);
  });

  it("that shows no creation leaves the time that is known", () => {
    expect(foldOf(created, snapshot({ seconds: 100 })).contract.createdAt).toBe(at(0));
  });

  it("leaves updatedAt as it was written where it shows the same instant", () => {
    const sameInstant = new Date(noonMs).toISOString().replace(".000Z", "Z");
    const read = snapshot({ seconds: 100, updatedAt: sameInstant });
    expect(foldOf(created, read).contract.updatedAt).toBe(at(0));
  });

  it.each([
    [500, 400],
    [400, 500],
  ])("makes syncedAt the newest of all, in whatever order they came: %i and %i", (first, second) => {
    const reads = [readAt(first, { seconds: 100 }), readAt(second, { seconds: 200 })];
    expect(foldOf(created, ...reads).contract.syncedAt).toBe(at(500));
  });
});

describe("a read of milestones", () => {
  it.each<[string, Partial<SnapshotMilestone>]>([
    ["a name", { name: null }],
    ["a due date", { dueDate: null }],
    ["an amount", { amountMinor: null }],
  ])("links none to another without %s", (_, lacking) => {
    const known = snapshot({ seconds: 10, milestones: [described("13", lacking)] });
    const read = snapshot({ seconds: 20, milestones: [described(guid, lacking)] });
    expect(kindsOf(foldOf(known, read))).toEqual(["milestone-unlinked"]);
  });

  it("links none to one that it shows itself under its own id", () => {
    const known = snapshot({ seconds: 10, milestones: [described("13")] });
    const read = snapshot({ seconds: 20, milestones: [described("13", { name: "New" }), described("14")] });
    expect([...foldOf(known, read).milestones.keys()]).toEqual(["13", "14"]);
  });
});

const showing = (seconds: number, status: string) =>
  snapshot({ seconds, milestones: [{ milestoneId: "13", status }] });

describe("a read after our own request for a milestone's refund", () => {
  const request = asked({ milestoneId: "13", seconds: 10 });

  it("finds it taken where the milestone is being refunded", () => {
    const { refunds } = foldOf(milestonePaid, request, showing(20, "RefundInProgress"));
    expect([...refunds.values()]).toMatchObject([{ state: "initiated" }]);
  });

  it("finds it never taken where the milestone stands as it was", () => {
    expect(foldOf(milestonePaid, request, showing(200, "Escrow")).refunds.size).toBe(0);
  });
});
