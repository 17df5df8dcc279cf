import { describe, expect, it } from "vitest";
import { at, event, foldOf, kindsOf, permutations } from "../../../support/delivery.ts";
import { initiated, milestoneRefund, paid, refundsOf, secondRefund, succeeded } from "./given.ts";

describe("a refund", () => {
  it("pairs its two webhooks by the transaction id, in either order", () => {
    for (const order of permutations([paid, initiated(), succeeded()]))
      expect(refundsOf(...order)).toEqual([
        {
          contractId: "CNT-1",
          refundKey: "T-1",
          refundId: "T-1",
          milestoneId: null,
          scope: "contract",
          kind: "full",
          state: "succeeded",
          inferred: false,
          amountMinor: 2500,
          currency: "SAR",
          requestedAt: null,
          initiatedAt: at(0),
          succeededAt: at(100),
        },
      ]);
  });

  it("is initiated while only the first webhook has come", () => {
    expect(refundsOf(initiated())).toMatchObject([
      { state: "initiated", initiatedAt: at(0), succeededAt: null },
    ]);
  });

  it("is succeeded when the first webhook never comes", () => {
    expect(refundsOf(succeeded())).toMatchObject([
      { state: "succeeded", initiatedAt: null, succeededAt: at(100) },
    ]);
  });

  it("keeps the furthest state when its beginning is dated after its end", () => {
    expect(refundsOf(initiated({ seconds: 300 }), succeeded())).toMatchObject([
      { state: "succeeded", initiatedAt: at(300) },
    ]);
  });

  it.each([
    ["a number and its digits", 4521, "4521", "4521"],
    ["a number beyond 2^53", "9007199254740993", "9007199254740993", "9007199254740993"],
    [
      "a GUID in two cases",
      "0F8FAD5B-D9CB-469F-A165-70867728950E",
      "{0f8fad5b-d9cb-469f-a165-70867728950e}",
      "0f8fad5b-d9cb-469f-a165-70867728950e",
    ],
  ])("is one by %s", (_, first, second, refundId) => {
    expect(
      refundsOf(initiated({ transactionId: first }), succeeded({ transactionId: second })),
    ).toMatchObject([{ refundId, state: "succeeded" }]);
  });

  it("is another by another opaque id, in case too, though amount and time are the same", () => {
    const state = foldOf(
      initiated({ transactionId: "abC" }),
      initiated({ transactionId: "abc" }),
      succeeded({ transactionId: "abc" }),
    );
    expect([...state.refunds.values()].map(({ refundId, state: reached }) => [refundId, reached])).toEqual(
      expect.arrayContaining([
        ["abC", "initiated"],
        ["abc", "succeeded"],
      ]),
    );
    expect(state.refunds.size).toBe(2);
  });

  it.each([
    ["refund.full-initiated", "full", "contract"],
    ["refund.partial-initiated", "partial", "contract"],
    ["milestone.refund.full-initiated", "full", "milestone"],
  ])("of %s is %s, of scope %s", (type, kind, scope) => {
    const milestone = scope === "milestone" ? { milestoneId: 13 } : {};
    expect(refundsOf(event(type, { seconds: 0, transactionId: "T", ...milestone }))).toMatchObject([
      { kind, scope, milestoneId: scope === "milestone" ? "13" : null },
    ]);
  });

  it("of the earlier edition that names a milestone is the milestone's", () => {
    expect(refundsOf(initiated({ metadata: { milestoneId: "13" } }))).toMatchObject([
      { scope: "milestone", milestoneId: "13" },
    ]);
  });

  it("without an id is not recorded but flagged", () => {
    const state = foldOf(paid, initiated({ transactionId: undefined }));
    expect(state.refunds.size).toBe(0);
    expect(kindsOf(state)).toEqual(["gap", "refund-without-id"]);
  });

  it("is not created by the legacy contract.refunded", () => {
    expect(refundsOf(event("contract.refunded", { seconds: 100, transactionId: "T-1" }))).toEqual([]);
  });

  it("moves nothing a second time by the legacy twin", () => {
    const legacy = event("contract.refunded", {
      seconds: 100,
      status: "Refunded",
      previousStatus: "RefundInProgress",
    });
    for (const order of permutations([paid, initiated(), succeeded(), legacy])) {
      const state = foldOf(...order);
      expect(state.transitions.filter(({ to, moved }) => to === "Refunded" && moved)).toHaveLength(1);
      expect(kindsOf(state)).toEqual(["gap"]);
    }
  });
});

describe("a second active refund", () => {
  it("of one type on one target is flagged", () => {
    for (const order of permutations([paid, initiated(), secondRefund()]))
      expect(kindsOf(foldOf(...order))).toContain("refund-overlap");
  });

  it("of another type is not", () => {
    const partial = event("refund.partial-initiated", { seconds: 10, transactionId: "T-2" });
    expect(kindsOf(foldOf(paid, initiated(), partial))).toEqual(["gap"]);
  });

  it("on another milestone is not", () => {
    expect(kindsOf(foldOf(paid, milestoneRefund(1, 0), milestoneRefund(2, 10)))).not.toContain(
      "refund-overlap",
    );
  });

  it("is not active once the first has succeeded", () => {
    expect(
      kindsOf(
        foldOf(paid, initiated(), succeeded(), secondRefund({ seconds: 200, previousStatus: "Refunded" })),
      ),
    ).toEqual(["gap", "after-terminal"]);
  });

  it("of several that are under way is flagged with how many they are, in whatever order they are known", () => {
    const third = initiated({ seconds: 20, transactionId: "T-0" });
    for (const order of permutations([paid, initiated(), secondRefund(), third]))
      expect(foldOf(...order).anomalies.map(({ detail }) => detail)).toEqual(
        expect.arrayContaining([
          "refund T-2 began while refund T-1 is under way",
          "refund T-0 began while 2 others are under way",
        ]),
      );
  });

  it("is not active once the target has left RefundInProgress", () => {
    const settled = event("contract.disputed", {
      seconds: 5,
      status: "Escrow",
      previousStatus: "RefundInProgress",
    });
    expect(kindsOf(foldOf(paid, initiated(), settled, secondRefund()))).toEqual(["gap", "status-mismatch"]);
  });
});

it("a refund that is told twice to have begun overlaps with none", () => {
  const again = initiated({ seconds: 5, previousStatus: "RefundInProgress" });
  expect(kindsOf(foldOf(paid, initiated(), again))).not.toContain("refund-overlap");
});
