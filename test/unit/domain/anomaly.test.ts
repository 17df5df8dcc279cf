/** An anomaly is read by a person: its text says what was odd, by which event, about what. */
import { describe, expect, it } from "vitest";
import type { FoldInput } from "../../../src/domain/input.ts";
import { at, event, foldOf, snapshot, type EventShape } from "../../support/delivery.ts";
import { answered } from "./refunds/own-calls.ts";

type Told = readonly [kind: string, milestoneId: string | null, detail: string];

const toldOf = (...inputs: FoldInput[]) =>
  foldOf(...inputs).anomalies.map(({ kind, milestoneId, detail }) => [kind, milestoneId, detail]);

const created = event("contract.created", { seconds: 0 });
const milestonePaid = (milestoneId: number | string, seconds: number) =>
  event("milestone.payment.completed", { seconds, milestoneId, paymentId: `P-${milestoneId}` });
const begun = (seconds: number, transactionId: string | null, more: object = {}) =>
  event("refund.full-initiated", { seconds, transactionId, previousStatus: "Escrow", ...more });
const milestoneBegun = (seconds: number, transactionId: string, milestoneId?: number) =>
  event("milestone.refund.full-initiated", { seconds, transactionId, milestoneId, previousStatus: "Escrow" });
const paid = event("payment.completed", { seconds: -100, previousStatus: "Approved", paymentId: "P" });
const gap: Told = ["gap", null, "payment.completed: contract from nothing to Escrow"];

it("an anomaly has its contract, its place in key order, its delivery and its time", () => {
  const late = event("contract.released", { seconds: 50 });
  const odd = event("contract.moved", { seconds: 60 });
  const { anomalies, contract } = foldOf(odd, created, late);
  expect(anomalies).toEqual([
    {
      contractId: "CNT-1",
      position: 1,
      kind: "gap",
      milestoneId: null,
      webhookId: late.webhookId,
      detail: "contract.released: contract from pending to Released",
      at: at(50),
    },
    {
      contractId: "CNT-1",
      position: 2,
      kind: "unknown-event",
      milestoneId: null,
      webhookId: odd.webhookId,
      detail: "contract.moved",
      at: at(60),
    },
  ]);
  expect(contract.anomalyCount).toBe(2);
});

describe("the text of an anomaly", () => {
  it.each<[string, readonly FoldInput[], readonly Told[]]>([
    ["a gap at the beginning", [paid], [gap]],
    [
      "a gap of a milestone",
      [event("milestone.released", { seconds: 0, milestoneId: 13 })],
      [["gap", "13", "milestone.released: milestone 13 from nothing to Released"]],
    ],
    [
      "a status that contradicts its type",
      [created, event("contract.approved", { seconds: 1, status: "Rejected" })],
      [["status-mismatch", null, "contract.approved says Rejected"]],
    ],
    [
      "a milestone that is not named",
      [event("milestone.released", { seconds: 0 })],
      [["milestone-missing", null, "milestone.released names no milestone"]],
    ],
    [
      "a milestone under an id of another form",
      [milestonePaid(13, 0), milestonePaid("a-guid", 1)],
      [["milestone-unlinked", "a-guid", "no API read shows a milestone of this id"]],
    ],
    [
      "a milestone that a read does not link",
      [milestonePaid(13, 0), snapshot({ seconds: 1, milestones: [{ milestoneId: "a-guid", status: null }] })],
      [
        [
          "milestone-unlinked",
          "a-guid",
          "its id in the API is not one of the webhooks' ids, and name, due date and amount do not show which milestone it is",
        ],
      ],
    ],
    [
      "a refund beside another",
      [paid, begun(0, "T-1"), begun(1, "T-2")],
      [gap, ["refund-overlap", null, "refund T-2 began while refund T-1 is under way"]],
    ],
    [
      "a refund beside several others",
      [paid, begun(0, "T-1"), begun(1, "T-2"), begun(2, "T-3")],
      [
        gap,
        ["refund-overlap", null, "refund T-2 began while refund T-1 is under way"],
        ["refund-overlap", null, "refund T-3 began while 2 others are under way"],
      ],
    ],
    [
      "a refund without an id",
      [paid, begun(0, null)],
      [gap, ["refund-without-id", null, "refund.full-initiated names no transactionId"]],
    ],
    [
      "an id that the contract's refund has",
      [paid, begun(0, "T-1"), event("refund.partial-initiated", { seconds: 1, transactionId: "T-1" })],
      [
        gap,
        [
          "refund-id-shared",
          null,
          "refund.partial-initiated names refund T-1, which is a full one of the contract",
        ],
      ],
    ],
    [
      "an id that a milestone's refund has",
      [milestonePaid(13, 0), milestoneBegun(1, "T-1", 13), begun(2, "T-1", { status: "RefundInProgress" })],
      [
        ["gap", null, "milestone.refund.full-initiated: contract from nothing to RefundInProgress"],
        [
          "refund-id-shared",
          null,
          "refund.full-initiated names refund T-1, which is a full one of milestone 13",
        ],
      ],
    ],
    [
      "an id that a refund of an unnamed milestone has",
      [milestoneBegun(1, "T-1"), begun(2, "T-1", { status: "RefundInProgress" })],
      [
        ["milestone-missing", null, "milestone.refund.full-initiated names no milestone"],
        ["gap", null, "milestone.refund.full-initiated: contract from nothing to RefundInProgress"],
        [
          "refund-id-shared",
          null,
          "refund.full-initiated names refund T-1, which is a full one of a milestone",
        ],
      ],
    ],
    [
      "an answer that names a refund of another kind",
      [paid, event("refund.partial-initiated", { seconds: 0, transactionId: "T-1" }), answered("T-1")],
      [
        gap,
        [
          "refund-id-shared",
          null,
          "our request was answered with refund T-1, which is of another kind or target",
        ],
      ],
    ],
    [
      "a payment without an id",
      [event("payment.completed", { seconds: 0, previousStatus: "Approved" })],
      [gap, ["payment-without-id", null, "payment.completed names no paymentId"]],
    ],
  ])("tells of %s", (_, inputs, told) => {
    expect(toldOf(...inputs)).toEqual(told);
  });

  it.each<[string, EventShape, string]>([
    ["no-zone", { timestamp: "2026-04-14T14:30:00" }, "its time names no zone and is read as UTC"],
    ["no-time", { timestamp: "soon" }, "it has no readable time and sorts before all that have one"],
    [
      "amount-precision",
      { seconds: 0, amount: "1.005" },
      "its amount has more than two decimals and is rounded",
    ],
    ["amount-range", { seconds: 0, amount: "1e40" }, "its amount is too large to be kept as a number"],
    ["amount-unreadable", { seconds: 0, amount: "much" }, "its amount is not a number and is not kept"],
    ["foreign-currency", { seconds: 0, currency: "USD" }, "its currency is not SAR"],
    [
      "previous-status-unreadable",
      { seconds: 0, previousStatus: 7 },
      "its previousStatus is not a name and counts as absent",
    ],
  ])("tells of what is odd about a value: %s", (kind, shape, detail) => {
    expect(toldOf(event("contract.created", shape))).toEqual([[kind, null, `contract.created: ${detail}`]]);
  });
});
