import { describe, expect, it } from "vitest";
import type { FoldInput } from "../../../../src/domain/input.ts";
import type { EventShape } from "../../../support/delivery.ts";
import { at, event, foldOf, kindsOf, permutations } from "../../../support/delivery.ts";
import { initiated, paid, refundsOf } from "./given.ts";

const ofMilestone = (milestoneId: number, amount: number, shape: EventShape = {}) =>
  event("milestone.refund.full-initiated", {
    seconds: milestoneId,
    milestoneId,
    transactionId: "T-1",
    amount,
    previousStatus: "Escrow",
    ...shape,
  });
const endOf = (milestoneId: number, seconds: number) =>
  event("milestone.refund.full-succeeded", { seconds, milestoneId, transactionId: "T-1", amount: 1 });

describe("one refund id", () => {
  it("on two milestones stays whole with the first, and moves both", () => {
    for (const order of permutations([paid, ofMilestone(13, 400), ofMilestone(14, 600)])) {
      const state = foldOf(...order);
      expect([...state.refunds.values()]).toMatchObject([
        { refundId: "T-1", milestoneId: "13", amountMinor: 40_000, state: "initiated", initiatedAt: at(13) },
      ]);
      expect(["13", "14"].map((id) => state.milestones.get(id)?.status)).toEqual([
        "RefundInProgress",
        "RefundInProgress",
      ]);
      const shared = state.anomalies.filter(({ kind }) => kind === "refund-id-shared");
      expect(shared).toMatchObject([{ milestoneId: "14", contractId: "CNT-1" }]);
    }
  });

  it("on two milestones succeeds with the first's own event alone", () => {
    const begun = [paid, ofMilestone(13, 400), ofMilestone(14, 600)];
    const other = foldOf(...begun, endOf(14, 100));
    expect(other.milestones.get("14")?.status).toBe("Refunded");
    expect([...other.refunds.values()]).toMatchObject([{ milestoneId: "13", state: "initiated" }]);
    expect(refundsOf(...begun, endOf(13, 100))).toMatchObject([{ milestoneId: "13", state: "succeeded" }]);
  });

  it.each<[string, FoldInput, object]>([
    [
      "the contract and a milestone",
      ofMilestone(14, 600),
      { scope: "contract", milestoneId: null, amountMinor: 2500 },
    ],
    [
      "the contract and a milestone of the earlier edition",
      initiated({ seconds: 9, amount: 600, metadata: { milestoneId: 14 } }),
      { scope: "contract", milestoneId: null, amountMinor: 2500 },
    ],
    [
      "two kinds",
      event("refund.partial-initiated", { seconds: 9, transactionId: "T-1", amount: 5 }),
      { kind: "full", amountMinor: 2500 },
    ],
    [
      "two kinds, of which one has ended",
      event("refund.partial-succeeded", { seconds: 9, transactionId: "T-1", amount: 5 }),
      // The target is Refunded all the same, and nothing else was under way for it.
      { kind: "full", state: "succeeded", inferred: true, succeededAt: null, amountMinor: 2500 },
    ],
  ])("on %s stays whole with the first in key order", (_, second, whole) => {
    for (const order of permutations([paid, initiated(), second])) {
      expect(refundsOf(...order)).toMatchObject([whole]);
      expect(kindsOf(foldOf(...order))).toContain("refund-id-shared");
    }
  });

  it("on a milestone that was not named at first is one refund", () => {
    const nameless = ofMilestone(13, 400, { seconds: 1, milestoneId: undefined });
    const state = foldOf(paid, nameless, endOf(13, 100));
    expect([...state.refunds.values()]).toMatchObject([{ milestoneId: "13", state: "succeeded" }]);
    expect(kindsOf(state)).not.toContain("refund-id-shared");
  });
});

it("a refund id of a milestone that is not named is told apart from the contract's", () => {
  const unnamed = event("milestone.refund.full-initiated", { seconds: -10, transactionId: "T-1" });
  const { anomalies } = foldOf(unnamed, initiated());
  expect(anomalies.find(({ kind }) => kind === "refund-id-shared")?.detail).toMatch(
    /a full one of a milestone$/,
  );
});
