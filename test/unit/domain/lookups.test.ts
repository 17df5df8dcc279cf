/** What a fold remembers of refunds and milestones while it runs is what a walk over them would find. */
import { describe, expect, it } from "vitest";
import { advance } from "../../../src/domain/fold.ts";
import type { FoldInput } from "../../../src/domain/input.ts";
import { at, event, foldOf, kindsOf, skewMs } from "../../support/delivery.ts";
import { answered, asked } from "./refunds/own-calls.ts";

const paid = event("payment.completed", { seconds: -100, previousStatus: "Approved", paymentId: "P" });
const begun = (seconds: number, transactionId: string | null, previousStatus = "Escrow") =>
  event("refund.full-initiated", { seconds, transactionId, previousStatus });
const ended = (seconds: number, transactionId: string) =>
  event("refund.full-succeeded", { seconds, transactionId, previousStatus: "RefundInProgress" });
const milestonePaid = (milestoneId: string, seconds: number) =>
  event("milestone.payment.completed", { seconds, milestoneId, paymentId: milestoneId });

const overlapsOf = (...inputs: FoldInput[]) =>
  foldOf(paid, ...inputs).anomalies.flatMap(({ kind, detail }) =>
    kind === "refund-overlap" ? [detail] : [],
  );

describe("a refund that has succeeded", () => {
  it("is under way no more where others begin after it", () => {
    expect(
      overlapsOf(begun(0, "T-1"), ended(1, "T-1"), begun(2, "T-2", "Refunded"), begun(3, "T-3")),
    ).toEqual(["refund T-3 began while refund T-2 is under way"]);
  });

  it("is under way no more where it was counted as such before", () => {
    const both = [begun(0, "T-1"), begun(1, "T-2"), ended(2, "T-1")];
    expect(overlapsOf(...both, begun(3, "T-3", "Refunded"), begun(4, "T-4"))).toEqual([
      "refund T-2 began while refund T-1 is under way",
      "refund T-4 began while 2 others are under way",
    ]);
  });
});

describe("an overlap", () => {
  it("is one of refunds that begin, not of one that ends", () => {
    expect(overlapsOf(begun(0, "T-1"), begun(1, "T-2"), ended(2, "T-2"))).toHaveLength(1);
  });

  it("is not told of a refund without an id", () => {
    expect(overlapsOf(begun(0, "T-1"), begun(1, null))).toEqual([]);
  });
});

describe("an answer", () => {
  it("that refuses a request that is not known changes nothing", () => {
    const refusal = answered(null, { intentId: "i-2", seconds: 5 });
    expect(foldOf(asked(), refusal).refunds).toEqual(foldOf(asked()).refunds);
  });

  it("that comes in a step of its own takes the refused request away", () => {
    const state = advance(foldOf(asked()), [answered(null)], { skewMs });
    expect(state.refunds.size).toBe(0);
  });

  it("names a milestone's refund that was seen to have succeeded, beside a request for the contract's", () => {
    const milestone = { milestoneId: "13" };
    const over = event("milestone.noted", { seconds: 2, milestoneId: 13, status: "Refunded" });
    const before = foldOf(milestonePaid("13", -50), asked(milestone), over);
    expect([...before.refunds.values()]).toMatchObject([{ refundId: null, state: "succeeded" }]);
    const answer = answered("T-1", milestone);
    const late = { ...answer, facts: { ...answer.facts, orderKey: "9" } };
    const { refunds } = advance(before, [asked({ intentId: "i-2", seconds: 60 }), late], { skewMs });
    expect([...refunds.values()]).toMatchObject([
      { refundId: null, milestoneId: null, requestedAt: at(60) },
      { refundId: "T-1", milestoneId: "13", state: "succeeded", requestedAt: at(0) },
    ]);
  });
});

describe("the form of a milestone's id", () => {
  it.each([
    ["13", "7"],
    ["7", "1024"],
    ["a-guid", "another"],
  ])("is the same of %s and %s: the second is a new milestone", (one, other) => {
    expect(kindsOf(foldOf(milestonePaid(one, 0), milestonePaid(other, 1)))).toEqual([]);
  });

  it.each([
    ["13", "guid-13"],
    ["13", "13-guid"],
    ["guid-13", "13"],
  ])("is another of %s and %s: the second may be the first", (one, other) => {
    expect(kindsOf(foldOf(milestonePaid(one, 0), milestonePaid(other, 1)))).toEqual(["milestone-unlinked"]);
  });
});
