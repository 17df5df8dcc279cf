/** Refunds of contracts and of milestones: which event is whose, and what one says of another. */
import { describe, expect, it } from "vitest";
import type { FoldInput } from "../../../../src/domain/input.ts";
import { event, foldOf, kindsOf, snapshot } from "../../../support/delivery.ts";
import { asked } from "./own-calls.ts";

const paid = event("payment.completed", { seconds: -100, previousStatus: "Approved", paymentId: "P" });
const refundsOf = (...inputs: FoldInput[]) => [...foldOf(...inputs).refunds.values()];
const statesOf = (...inputs: FoldInput[]) =>
  Object.fromEntries(refundsOf(...inputs).map(({ refundKey, state }) => [refundKey, state]));
const ofMilestone = (
  what: "initiated" | "succeeded",
  seconds: number,
  transactionId: string,
  milestoneId?: number,
) =>
  event(`milestone.refund.full-${what}`, {
    seconds,
    transactionId,
    milestoneId,
    previousStatus: what === "initiated" ? "Escrow" : "RefundInProgress",
  });
const begun = (seconds: number, transactionId: string, more: object = {}) =>
  event("refund.full-initiated", { seconds, transactionId, previousStatus: "Escrow", ...more });

it.each([
  ["refund.full-initiated", "contract", "full", "initiated"],
  ["refund.full-succeeded", "contract", "full", "succeeded"],
  ["refund.partial-initiated", "contract", "partial", "initiated"],
  ["refund.partial-succeeded", "contract", "partial", "succeeded"],
  ["milestone.refund.full-initiated", "milestone", "full", "initiated"],
  ["milestone.refund.full-succeeded", "milestone", "full", "succeeded"],
])("%s is of a %s, %s, %s", (type, scope, kind, state) => {
  expect(refundsOf(event(type, { seconds: 0, transactionId: "T-1" }))).toMatchObject([
    { scope, kind, state },
  ]);
});

describe("a refund that begins beside another", () => {
  it.each<[string, readonly FoldInput[]]>([
    [
      "of the contract, in part",
      ["T-1", "T-2"].map((transactionId, seconds) =>
        event("refund.partial-initiated", { seconds, transactionId, previousStatus: "Escrow" }),
      ),
    ],
    ["of a milestone", [ofMilestone("initiated", 0, "T-1", 13), ofMilestone("initiated", 1, "T-2", 13)]],
    [
      "of a milestone, by the earlier edition",
      [
        begun(0, "T-1", { metadata: { milestoneId: "13" } }),
        begun(1, "T-2", { metadata: { milestoneId: "13" } }),
      ],
    ],
  ])("overlaps with it: %s", (_, inputs) => {
    expect(kindsOf(foldOf(paid, ...inputs)).filter((kind) => kind === "refund-overlap")).toHaveLength(1);
  });

  it("overlaps with none where no event has named the milestone: it may be another", () => {
    const state = foldOf(paid, ofMilestone("initiated", 0, "T-1"), ofMilestone("initiated", 1, "T-2"));
    expect(kindsOf(state)).not.toContain("refund-overlap");
  });
});

it("a success that names its refund completes no other of its milestone", () => {
  const both = [ofMilestone("initiated", 0, "T-1", 13), ofMilestone("initiated", 1, "T-2", 13)];
  expect(statesOf(paid, ...both, ofMilestone("succeeded", 2, "T-1", 13))).toEqual({
    "T-1": "succeeded",
    "T-2": "initiated",
  });
});

it("a success that does not name its milestone is of the one that is known", () => {
  const inputs = [ofMilestone("initiated", 0, "T-1", 13), ofMilestone("succeeded", 1, "T-1")];
  expect(refundsOf(paid, ...inputs)).toMatchObject([{ milestoneId: "13", state: "succeeded" }]);
});

it("a refund that was inferred to have succeeded stays so when its beginning is told again", () => {
  const inputs = [begun(0, "T-1"), snapshot({ seconds: 100, status: "Refunded" })];
  expect(refundsOf(paid, ...inputs, begun(200, "T-1"))).toMatchObject([
    { state: "succeeded", inferred: true },
  ]);
});

it("a request that a webhook has begun is not inferred where its target was never seen under way", () => {
  const inputs = [asked(), begun(1, "T-1", { status: "Escrow" })];
  const read = snapshot({ seconds: 100, status: "Refunded" });
  expect(refundsOf(paid, ...inputs, read)).toMatchObject([{ state: "initiated", inferred: false }]);
});
