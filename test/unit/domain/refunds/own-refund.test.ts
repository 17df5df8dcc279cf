import { describe, expect, it } from "vitest";
import type { AnswerInput, FoldInput } from "../../../../src/domain/input.ts";
import { intentIdOf, requestKeyOf } from "../../../../src/domain/own-refund.ts";
import { orderKeyOf } from "../../../../src/shared/wire-time.ts";
import { at, event, foldOf, kindsOf, permutations, snapshot } from "../../../support/delivery.ts";
import { answered, asked, type Asked } from "./own-calls.ts";

const initiated = (seconds: number, transactionId = "T-1", more = {}) =>
  event("refund.full-initiated", { seconds, transactionId, amount: 25, previousStatus: "Escrow", ...more });
const refunded = (seconds: number) => snapshot({ seconds, status: "Refunded" });
const inEscrow = (seconds: number) => snapshot({ seconds, status: "Escrow" });
const refundsOf = (...inputs: FoldInput[]) => [...foldOf(...inputs).refunds.values()];

/** The keys of the refunds, for every order of arrival. */
const keysOf = (...inputs: FoldInput[]) =>
  permutations(inputs).map((order) => foldOf(...order).refunds.keys());

/** The same in every order of arrival. */
function expectRefunds(inputs: FoldInput[], expected: readonly unknown[]): void {
  for (const order of permutations(inputs)) expect(refundsOf(...order)).toMatchObject(expected);
}

it("a request's key holds the intent", () => {
  expect(intentIdOf(requestKeyOf("i-1"))).toBe("i-1");
});

describe("a refund that we asked for", () => {
  it("stands without an id until it is answered", () => {
    expectRefunds([asked()], [{ refundId: null, state: "requested", requestedAt: at(0), amountMinor: 2500 }]);
  });

  it("has the answer's id", () => {
    expectRefunds(
      [asked(), answered("T-1")],
      [{ refundKey: "T-1", refundId: "T-1", state: "initiated", requestedAt: at(0) }],
    );
  });

  it("is known by the answer alone", () => {
    expectRefunds([answered("T-1")], [{ refundId: "T-1", state: "initiated", requestedAt: at(0) }]);
  });

  it("is known once when our clock was set back before the answer", () => {
    const takenAt = at(-3600);
    const { facts, ...answer } = answered("T-1");
    const early = { ...answer, facts: { ...facts, takenAt, orderKey: orderKeyOf(takenAt) } };
    expectRefunds([asked(), early], [{ refundId: "T-1", requestedAt: at(0) }]);
  });

  it.each([
    ["another milestone's", { milestoneId: "13" }, { milestoneId: "14" }],
    ["the contract's", { milestoneId: "13" }, {}],
    ["of another kind", {}, { refundKind: "partial" }],
  ] as const)("stands beside one of the same millisecond that is %s", (_, one, other) => {
    const second = { intentId: "i-2", ...other };
    const [keyOne, keyOther] = [requestKeyOf("i-1"), requestKeyOf("i-2")];
    for (const found of keysOf(asked(one), asked(second)))
      expect([...found].sort()).toEqual([keyOne, keyOther]);
    for (const found of keysOf(asked(one), asked(second), answered("T-1", one)))
      expect([...found].sort()).toEqual(["T-1", keyOther]);
    expectRefunds(
      [answered("T-1", one), answered("T-2", second)],
      [{ requestedAt: at(0) }, { requestedAt: at(0) }],
    );
  });

  it("is not one that earlier answers have named", () => {
    const [second, third] = [
      { intentId: "i-2", seconds: 10 },
      { intentId: "i-3", seconds: 20 },
    ];
    expectRefunds(
      [answered("T-2"), answered("T-1", second), asked(third)],
      [{ refundId: "T-2" }, { refundId: "T-1" }, { refundId: null, requestedAt: at(20) }],
    );
  });

  it("is gone when the service refuses, and a refusal alone leaves nothing", () => {
    expectRefunds([asked(), answered(null)], []);
    expectRefunds([answered(null)], []);
  });

  it("is the one that a webhook tells of before the answer", () => {
    const webhook = event("refund.full-initiated", { seconds: 0.5, transactionId: "T-1" });
    expectRefunds([asked(), webhook], [{ refundId: "T-1", requestedAt: at(0), initiatedAt: at(0.5) }]);
    expectRefunds(
      [asked(), webhook, answered("T-1")],
      [{ refundId: "T-1", state: "initiated", requestedAt: at(0), amountMinor: 2500 }],
    );
  });

  it("is the one that a webhook told of by a clock within the skew behind ours", () => {
    expectRefunds([initiated(-30), asked()], [{ refundId: "T-1", requestedAt: at(0), initiatedAt: at(-30) }]);
    expectRefunds([initiated(-90), asked()], [{ refundId: "T-1", requestedAt: null }, { refundId: null }]);
  });

  it("is not one whose beginning has no readable time", () => {
    const timeless = event("refund.full-initiated", { transactionId: "T-1" });
    expect(refundsOf(timeless, asked())).toHaveLength(2);
  });

  it("is not one that an earlier request of ours has", () => {
    const [first, second] = [asked(), asked({ intentId: "i-2", seconds: 10 })];
    expectRefunds(
      [first, initiated(5), second],
      [
        { refundId: "T-1", requestedAt: at(0) },
        { refundId: null, requestedAt: at(10) },
      ],
    );
  });

  it("goes to the first of two webhooks that may have told of it, and to the one that the answer names", () => {
    const both = [initiated(-20, "T-1"), initiated(-10, "T-2"), asked()];
    expect(refundsOf(...both)).toMatchObject([
      { refundId: "T-1", requestedAt: at(0) },
      { refundId: "T-2", requestedAt: null },
    ]);
    expect(refundsOf(...both, answered("T-2"))).toMatchObject([
      { refundId: "T-1", requestedAt: null },
      { refundId: "T-2", requestedAt: at(0) },
    ]);
  });

  it("stays succeeded when the answer comes last", () => {
    const done = event("refund.full-succeeded", { seconds: 0.5, transactionId: "T-1" });
    expectRefunds([asked(), done, answered("T-1")], [{ refundId: "T-1", state: "succeeded" }]);
  });

  it("comes before its answer and its webhook when all are of one instant", () => {
    const answer = answered("T-1");
    const { takenAt, orderKey } = asked().facts as { takenAt: string; orderKey: string };
    const atOnce: AnswerInput = { ...answer, facts: { ...answer.facts, takenAt, orderKey } };
    expectRefunds(
      [asked(), initiated(0), atOnce],
      [{ refundId: "T-1", requestedAt: at(0), initiatedAt: at(0) }],
    );
  });

  it.each<[string, FoldInput, Asked]>([
    ["of another kind", initiated(0.5), { refundKind: "partial" }],
    ["of another target", initiated(0.5), { milestoneId: "13" }],
    [
      "of another milestone",
      event("milestone.refund.full-initiated", { seconds: 0.5, milestoneId: 14, transactionId: "T-1" }),
      { milestoneId: "13" },
    ],
  ])("is dropped, and told, when the answer names a refund %s", (_, other, shape) => {
    const state = foldOf(asked(shape), other, answered("T-1", shape));
    expect([...state.refunds.values()]).toMatchObject([{ refundId: "T-1", requestedAt: null }]);
    expect(kindsOf(state)).toContain("refund-id-shared");
  });

  it("of a milestone is one that a webhook told of without naming the milestone", () => {
    const unnamed = event("milestone.refund.full-initiated", { seconds: 0.5, transactionId: "T-1" });
    const state = foldOf(asked({ milestoneId: "13" }), unnamed, answered("T-1", { milestoneId: "13" }));
    expect(state.refunds.get("T-1")).toMatchObject({ requestedAt: at(0) });
  });
});

describe("an API read of a refund that we asked for", () => {
  it("finds it taken where its target is being refunded", () => {
    expectRefunds(
      [inEscrow(-100), asked(), snapshot({ seconds: 10, status: "RefundInProgress" })],
      [{ refundId: null, state: "initiated" }],
    );
  });

  it("finds it never taken where its target stands as it was, longer than the skew after", () => {
    expectRefunds([inEscrow(-100), asked(), inEscrow(30)], [{ state: "requested" }]);
    expectRefunds([inEscrow(-100), asked(), inEscrow(100)], []);
  });

  it("says nothing of a milestone that it does not show", () => {
    expectRefunds([asked({ milestoneId: "13" }), inEscrow(100)], [{ milestoneId: "13", state: "requested" }]);
  });

  it("finds it done where its target is Refunded, whether or not it had its id", () => {
    expectRefunds(
      [inEscrow(-100), asked(), refunded(100)],
      [{ refundId: null, state: "succeeded", inferred: true }],
    );
    expectRefunds(
      [inEscrow(-100), asked(), answered("T-1"), refunded(100)],
      [{ refundId: "T-1", state: "succeeded", inferred: true }],
    );
  });

  it("leaves one that a webhook began before the target was seen under way", () => {
    const { refunds } = foldOf(initiated(-30), asked(), inEscrow(200), refunded(300));
    expect(refunds.get("T-1")).toMatchObject({ state: "initiated", inferred: false });
  });
});
