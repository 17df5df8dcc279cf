import { describe, expect, it } from "vitest";
import type { FoldInput } from "../../../../src/domain/input.ts";
import { at, event, foldOf, permutations, snapshot } from "../../../support/delivery.ts";
import { byId, initiated, milestoneRefund, paid, refundsOf, secondRefund, succeeded } from "./given.ts";

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
