import { describe, expect, it } from "vitest";
import type { FoldInput } from "../../../src/domain/input.ts";
import type { EventShape } from "../../support/delivery.ts";
import { at, event, foldOf, kindsOf, permutations, snapshot } from "../../support/delivery.ts";

const secondRefund = (shape: EventShape = {}) => initiated({ seconds: 10, transactionId: "T-2", ...shape });

const milestoneRefund = (milestoneId: number, seconds: number) =>
  event("milestone.refund.full-initiated", {
    seconds,
    milestoneId,
    transactionId: `T-${milestoneId}`,
    previousStatus: "Escrow",
  });

const payments = (...inputs: FoldInput[]) => [...foldOf(...inputs).payments.values()];

const disputes = (...inputs: FoldInput[]) => [...foldOf(...inputs).disputes.values()];

const disputeOf = (milestoneId: number, seconds: number) =>
  event("milestone.disputed", { seconds, milestoneId });

const paid = event("payment.completed", { seconds: -100, paymentId: "P", status: "Escrow" });
const initiated = (shape: EventShape = {}) =>
  event("refund.full-initiated", {
    seconds: 0,
    transactionId: "T-1",
    amount: 25,
    previousStatus: "Escrow",
    ...shape,
  });
const succeeded = (shape: EventShape = {}) =>
  event("refund.full-succeeded", {
    seconds: 100,
    transactionId: "T-1",
    amount: 25,
    previousStatus: "RefundInProgress",
    ...shape,
  });
const refundsOf = (...inputs: FoldInput[]) => [...foldOf(...inputs).refunds.values()];

describe("a refund", () => {
  it("pairs its two webhooks by the transaction id, in either order", () => {
    for (const order of permutations([paid, initiated(), succeeded()]))
      expect(refundsOf(...order)).toEqual([
        {
          contractId: "CNT-1",
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

  it("is neither created nor completed by the legacy contract.refunded", () => {
    const legacy = event("contract.refunded", { seconds: 100, transactionId: "T-1", amount: 25 });
    expect(refundsOf(legacy)).toEqual([]);
    expect(refundsOf(paid, initiated(), legacy)).toMatchObject([{ state: "initiated" }]);
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
    ).toEqual(["gap"]);
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

describe("a snapshot that shows the target Refunded", () => {
  const read = snapshot({ seconds: 200, status: "refunded" });

  it("completes its only active refund, and says that this is inferred", () => {
    expect(refundsOf(paid, initiated(), read)).toMatchObject([
      { state: "succeeded", inferred: true, succeededAt: null },
    ]);
  });

  it("completes none of two", () => {
    const second = initiated({ seconds: 10, transactionId: "T-2" });
    expect(refundsOf(paid, initiated(), second, read).map(({ state }) => state)).toEqual([
      "initiated",
      "initiated",
    ]);
  });

  it("completes a milestone's by the milestone's own status", () => {
    const milestone = event("milestone.refund.full-initiated", {
      seconds: 0,
      milestoneId: 13,
      transactionId: "T-1",
      previousStatus: "Escrow",
    });
    const shown = snapshot({ seconds: 200, milestones: [{ milestoneId: "13", status: "refunded" }] });
    expect(refundsOf(milestone, shown)).toMatchObject([{ state: "succeeded", inferred: true }]);
    expect(refundsOf(milestone, read)).toMatchObject([{ state: "initiated" }]);
  });

  it("is made certain by the webhook when that comes", () => {
    expect(refundsOf(paid, initiated(), read, succeeded({ seconds: 250 }))).toMatchObject([
      { state: "succeeded", inferred: false, succeededAt: at(250) },
    ]);
  });
});

describe("a payment", () => {
  it("is keyed by paymentId and milestone", () => {
    const first = event("payment.completed", {
      seconds: 0,
      paymentId: "P-1",
      amount: 600,
      transactionId: "T",
      invoiceId: "I",
    });
    const again = event("payment.completed", { id: "again", seconds: 50, paymentId: "P-1", amount: 600 });
    const part = event("milestone.payment.completed", {
      seconds: 1,
      paymentId: "P-1",
      milestoneId: 1,
      amount: 10,
    });
    expect(payments(first, again, part)).toEqual([
      {
        contractId: "CNT-1",
        paymentKey: "/P-1",
        paymentId: "P-1",
        milestoneId: null,
        transactionId: "T",
        invoiceId: "I",
        amountMinor: 60000,
        currency: "SAR",
        completedAt: at(0),
      },
      {
        contractId: "CNT-1",
        paymentKey: "1/P-1",
        paymentId: "P-1",
        milestoneId: "1",
        transactionId: null,
        invoiceId: null,
        amountMinor: 1000,
        currency: "SAR",
        completedAt: at(1),
      },
    ]);
  });

  it("is keyed by the transaction id where there is no paymentId", () => {
    expect(payments(event("payment.completed", { seconds: 0, transactionId: "T-9" }))).toMatchObject([
      { paymentId: "T-9" },
    ]);
  });

  it("without any id is not recorded but flagged", () => {
    const state = foldOf(event("payment.completed", { seconds: 0 }));
    expect(state.payments.size).toBe(0);
    expect(kindsOf(state)).toEqual(["gap", "payment-without-id"]);
  });
});

describe("a dispute", () => {
  it("is keyed by disputeId", () => {
    const raised = event("contract.disputed", { seconds: 0, disputeId: "D-1" });
    const again = event("contract.disputed", { id: "again", seconds: 100, disputeId: "D-1" });
    expect(disputes(again, raised)).toEqual([
      { contractId: "CNT-1", disputeKey: "id:D-1", disputeId: "D-1", milestoneId: null, raisedAt: at(0) },
    ]);
  });

  it("is keyed by contract, milestone and time where there is none", () => {
    expect(disputes(disputeOf(1, 0), disputeOf(2, 0), disputeOf(1, 300))).toHaveLength(3);
    expect(
      disputes(disputeOf(1, 0), event("milestone.disputed", { id: "twin", seconds: 0, milestoneId: 1 })),
    ).toHaveLength(1);
  });
});
