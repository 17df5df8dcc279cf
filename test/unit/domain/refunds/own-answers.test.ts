/** Our requests for refunds beside webhooks, reads and other requests: which of them is which. */
import { describe, expect, it } from "vitest";
import { advance } from "../../../../src/domain/fold.ts";
import type { FoldInput } from "../../../../src/domain/input.ts";
import { at, event, foldOf, kindsOf, skewMs, snapshot } from "../../../support/delivery.ts";
import { answered, asked } from "./own-calls.ts";

const begun = (seconds: number, transactionId: string, more: object = {}) =>
  event("refund.full-initiated", { seconds, transactionId, previousStatus: "Escrow", ...more });
const refundsOf = (...inputs: FoldInput[]) => [...foldOf(...inputs).refunds.values()];
const requestsOf = (...inputs: FoldInput[]) =>
  Object.fromEntries(refundsOf(...inputs).map(({ refundKey, requestedAt }) => [refundKey, requestedAt]));
const inEscrow = event("payment.completed", { seconds: -100, previousStatus: "Approved", paymentId: "P" });

it("a refund that the answer alone tells of has every field", () => {
  expect(refundsOf(answered("T-1"))).toEqual([
    {
      contractId: "CNT-1",
      refundKey: "T-1",
      refundId: "T-1",
      milestoneId: null,
      scope: "contract",
      kind: "full",
      state: "initiated",
      inferred: false,
      amountMinor: 2500,
      currency: "SAR",
      requestedAt: at(0),
      initiatedAt: null,
      succeededAt: null,
    },
  ]);
});

describe("of two requests", () => {
  const both = [asked({ intentId: "b", seconds: 0 }), asked({ intentId: "a", seconds: 10 })];

  it("the earlier one is begun by the webhook", () => {
    expect(requestsOf(...both, begun(20, "T-1"))).toEqual({ "T-1": at(0), "requested:a": at(10) });
  });

  it("the answer to one leaves the other's refund its time", () => {
    const first = answered("T-1", { intentId: "b", seconds: 0 });
    const second = answered("T-2", { intentId: "a", seconds: 10 });
    expect(requestsOf(...both, first, second)).toEqual({ "T-1": at(0), "T-2": at(10) });
  });
});

describe("of two refunds that webhooks began by a clock behind ours, the request is", () => {
  it("the one that began first", () => {
    expect(requestsOf(begun(0, "T-2"), begun(10, "T-1"), asked({ seconds: 20 }))).toEqual({
      "T-2": at(20),
      "T-1": null,
    });
  });

  it("the one of the lower id where both began at one instant, however they are stored", () => {
    const state = foldOf(begun(0, "T-1"), begun(0, "T-2"));
    for (const refunds of [[...state.refunds], [...state.refunds].reverse()]) {
      const next = advance({ ...state, refunds: new Map(refunds) }, [asked({ seconds: 20 })], { skewMs });
      expect(next.refunds.get("T-1")?.requestedAt).toBe(at(20));
      expect(next.refunds.get("T-2")?.requestedAt).toBeNull();
    }
  });
});

it("a refund that began as long before the request as clocks may differ is that one, and no earlier one is", () => {
  expect(requestsOf(begun(0, "T-1"), asked({ seconds: 60 }))).toEqual({ "T-1": at(60) });
  expect(requestsOf(begun(0, "T-1"), asked({ seconds: 61 }))).toEqual({
    "T-1": null,
    "requested:i-1": at(61),
  });
});

describe("an answer that names the refund that was asked for", () => {
  it.each<[string, readonly FoldInput[]]>([
    ["the contract's", [asked(), answered("T-1")]],
    ["the contract's, that a webhook told of before", [asked(), begun(0.5, "T-1"), answered("T-1")]],
    [
      "a milestone's, that a webhook told of before",
      [
        asked({ milestoneId: "13" }),
        event("milestone.refund.full-initiated", { seconds: 0.5, milestoneId: 13, transactionId: "T-1" }),
        answered("T-1", { milestoneId: "13" }),
      ],
    ],
  ])("is nothing odd: %s", (_, inputs) => {
    expect(kindsOf(foldOf(...inputs))).not.toContain("refund-id-shared");
    expect(requestsOf(...inputs)).toEqual({ "T-1": at(0) });
  });

  it("leaves the amount that a webhook told, and gives the asked one where none did", () => {
    const told = begun(0.5, "T-1", { amount: 20 });
    expect(refundsOf(asked(), told, answered("T-1"))).toMatchObject([{ amountMinor: 2000 }]);
    expect(refundsOf(begun(-100, "T-1"), answered("T-1"))).toMatchObject([{ amountMinor: 2500 }]);
  });
});

const read = (seconds: number) => snapshot({ seconds, status: "Escrow" });

describe("an API read", () => {
  it("lets a request go only when it was taken longer after than clocks may differ", () => {
    expect(refundsOf(inEscrow, asked(), read(60))).toHaveLength(1);
    expect(refundsOf(inEscrow, asked(), read(61))).toEqual([]);
  });

  it("that is older than the target's status says nothing of a request", () => {
    const stale = snapshot({ seconds: 200, status: "Approved", updatedAt: at(-200) });
    expect(refundsOf(inEscrow, asked(), stale)).toMatchObject([{ state: "requested" }]);
  });

  it("that shows a target refunded, whole or in part, finds the requests taken that it can't tell apart", () => {
    const both = [asked({ intentId: "a" }), asked({ intentId: "b", seconds: 1 })];
    const whole = snapshot({ seconds: 200, status: "Refunded" });
    expect(refundsOf(inEscrow, ...both, whole).map(({ state }) => state)).toEqual(["initiated", "initiated"]);
    const part = snapshot({ seconds: 200, status: "PartiallyRefunded" });
    expect(refundsOf(inEscrow, asked({ refundKind: "partial" }), part)).toMatchObject([
      { state: "initiated" },
    ]);
  });
});

it.each(["13", "14"])(
  "the answer to one of two requests of one instant leaves the other its time: %s",
  (milestoneId) => {
    const [one, other] = [{ milestoneId: "13" }, { milestoneId: "14", intentId: "i-2" }];
    const answer = milestoneId === "13" ? answered("T-1", one) : answered("T-1", other);
    expect(new Set(Object.values(requestsOf(asked(one), asked(other), answer)))).toEqual(new Set([at(0)]));
  },
);
