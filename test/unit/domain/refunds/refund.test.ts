import { describe, expect, it } from "vitest";
import { compareText } from "../../../src/domain/order.ts";
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
const byId = (...inputs: FoldInput[]) =>
  refundsOf(...inputs).toSorted((a, b) => compareText(a.refundKey, b.refundKey));

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

const read = snapshot({ seconds: 200, status: "refunded" });

describe.each<[string, FoldInput]>([
  ["a snapshot", read],
  ["the legacy contract.refunded", event("contract.refunded", { seconds: 200 })],
  ["the twin with a status", event("contract.refunded", { seconds: 200, status: "REFUNDED" })],
  ["any event with that status", event("contract.updated", { seconds: 200, status: "Refunded" })],
  [
    "a success that names no refund",
    event("refund.full-succeeded", { seconds: 200, transactionId: undefined }),
  ],
])("%s that leaves the contract Refunded", (_, refunded) => {
  it("completes its only active full refund, and says that this is inferred", () => {
    for (const order of permutations([paid, initiated(), refunded])) {
      expect(foldOf(...order).contract.status).toBe("Refunded");
      expect(refundsOf(...order)).toMatchObject([{ state: "succeeded", inferred: true, succeededAt: null }]);
    }
  });

  it("completes none of two", () => {
    expect(refundsOf(paid, initiated(), secondRefund(), refunded).map(({ state }) => state)).toEqual([
      "initiated",
      "initiated",
    ]);
  });

  it("completes the full one beside a partial one", () => {
    const part = event("refund.partial-initiated", { seconds: 20, transactionId: "T-2" });
    expect(refundsOf(paid, initiated(), part, refunded).map(({ kind, state }) => [kind, state])).toEqual([
      ["full", "succeeded"],
      ["partial", "initiated"],
    ]);
  });

  it("completes no partial one", () => {
    const part = event("refund.partial-initiated", { seconds: 20, transactionId: "T-2" });
    expect(refundsOf(paid, part, refunded)).toMatchObject([{ state: "initiated", inferred: false }]);
  });

  it("completes none that was given up", () => {
    const givenUp = event("contract.refund-given-up", {
      seconds: 50,
      status: "Escrow",
      previousStatus: "RefundInProgress",
    });
    expect(refundsOf(paid, initiated(), givenUp, refunded)).toMatchObject([{ state: "initiated" }]);
  });

  it("completes no milestone's", () => {
    expect(refundsOf(paid, milestoneRefund(13, 0), refunded)).toMatchObject([{ state: "initiated" }]);
  });

  it("is made certain by the webhook when that comes", () => {
    for (const order of permutations([paid, initiated(), refunded, succeeded({ seconds: 250 })]))
      expect(refundsOf(...order)).toMatchObject([
        { state: "succeeded", inferred: false, succeededAt: at(250) },
      ]);
  });
});

describe("a milestone that is left Refunded", () => {
  it.each<[string, FoldInput]>([
    ["a snapshot", snapshot({ seconds: 200, milestones: [{ milestoneId: "13", status: "refunded" }] })],
    [
      "an event without a refund's id",
      event("milestone.updated", { seconds: 200, milestoneId: 13, status: "Refunded" }),
    ],
  ])("by %s has its only active full refund completed, and no other's", (_, refunded) => {
    const both = [milestoneRefund(13, 0), milestoneRefund(14, 1)];
    for (const order of permutations([...both, refunded]))
      expect(
        byId(...order).map(({ milestoneId, state, inferred }) => [milestoneId, state, inferred]),
      ).toEqual([
        ["13", "succeeded", true],
        ["14", "initiated", false],
      ]);
  });
});

describe("a success that names its refund", () => {
  it("completes no other of its target", () => {
    for (const order of permutations([
      paid,
      initiated(),
      secondRefund(),
      succeeded({ transactionId: "T-2" }),
    ]))
      expect(byId(...order).map(({ refundId, state }) => [refundId, state])).toEqual([
        ["T-1", "initiated"],
        ["T-2", "succeeded"],
      ]);
    expect(refundsOf(paid, initiated(), succeeded({ transactionId: "T-9" }))).toMatchObject([
      { refundId: "T-1", state: "initiated" },
      { refundId: "T-9", state: "succeeded" },
    ]);
  });

  it("completes the contract's where it is a milestone's and leaves the contract Refunded", () => {
    const last = event("refund.full-succeeded", {
      seconds: 200,
      transactionId: "T-13",
      status: "Refunded",
      metadata: { milestoneId: 13 },
    });
    expect(refundsOf(paid, initiated(), milestoneRefund(13, 1), last)).toMatchObject([
      { refundId: "T-1", state: "succeeded", inferred: true },
      { refundId: "T-13", state: "succeeded", inferred: false },
    ]);
  });
});

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
        paymentKey: '[null,"P-1"]',
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
        paymentKey: '["1","P-1"]',
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
      {
        contractId: "CNT-1",
        disputeKey: '["id","D-1"]',
        disputeId: "D-1",
        milestoneId: null,
        raisedAt: at(0),
      },
    ]);
  });

  it("is keyed by contract, milestone and time where there is none", () => {
    expect(disputes(disputeOf(1, 0), disputeOf(2, 0), disputeOf(1, 300))).toHaveLength(3);
    expect(
      disputes(disputeOf(1, 0), event("milestone.disputed", { id: "twin", seconds: 0, milestoneId: 1 })),
    ).toHaveLength(1);
  });
});

it("a refund that was given up is not inferred from another's end", () => {
  const state = foldOf(
    event("contract.created", { id: "c", seconds: 0, status: "Pending" }),
    event("payment.completed", { id: "p", seconds: 10, status: "Escrow", paymentId: "P" }),
    event("refund.full-initiated", {
      id: "r1",
      seconds: 100,
      status: "RefundInProgress",
      transactionId: "1001",
    }),
    event("contract.refund-given-up", {
      id: "g",
      seconds: 200,
      status: "Escrow",
      previousStatus: "RefundInProgress",
    }),
    event("refund.full-initiated", {
      id: "r2",
      seconds: 300,
      status: "RefundInProgress",
      transactionId: "1002",
      milestoneId: "13",
    }),
    event("refund.full-succeeded", {
      id: "s2",
      seconds: 400,
      status: "Refunded",
      previousStatus: "RefundInProgress",
      transactionId: "1002",
      milestoneId: "13",
    }),
  );
  expect(state.refunds.get("1001")).toMatchObject({ state: "initiated", inferred: false });
  expect(state.refunds.get("1002")).toMatchObject({ state: "succeeded", inferred: false });
});

it("a refund that is told twice to have begun overlaps with none", () => {
  const again = initiated({ seconds: 5, previousStatus: "RefundInProgress" });
  expect(kindsOf(foldOf(paid, initiated(), again))).not.toContain("refund-overlap");
});

it("a refund id of a milestone that is not named is told apart from the contract's", () => {
  const unnamed = event("milestone.refund.full-initiated", { seconds: -10, transactionId: "T-1" });
  const { anomalies } = foldOf(unnamed, initiated());
  expect(anomalies.find(({ kind }) => kind === "refund-id-shared")?.detail).toMatch(
    /a full one of a milestone$/,
  );
});

it("a refund of a target that was never under way is not inferred to have succeeded", () => {
  const stays = initiated({ status: "Escrow" });
  expect(refundsOf(paid, stays, read)).toMatchObject([{ state: "initiated", inferred: false }]);
});

it("a refund is inferred to have succeeded where an event of its beginning leaves the target Refunded", () => {
  const again = initiated({ seconds: 50, status: "Refunded", previousStatus: "RefundInProgress" });
  expect(refundsOf(paid, initiated(), again)).toMatchObject([{ state: "succeeded", inferred: true }]);
});

it("a milestone's refund that began before its target went RefundInProgress is not inferred", () => {
  const early = event("milestone.refund.full-initiated", {
    seconds: 0,
    milestoneId: 13,
    transactionId: "T-1",
    status: "Escrow",
  });
  const under = event("milestone.noted", { seconds: 10, milestoneId: 13, status: "RefundInProgress" });
  const over = event("milestone.noted", { seconds: 20, milestoneId: 13, status: "Refunded" });
  expect(refundsOf(early, under, over)).toMatchObject([{ state: "initiated", inferred: false }]);
});
