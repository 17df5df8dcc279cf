import { describe, expect, it } from "vitest";
import type { FoldInput } from "../../../src/domain/input.ts";
import { at, event, foldOf } from "../../support/delivery.ts";

const disputes = (...inputs: FoldInput[]) => [...foldOf(...inputs).disputes.values()];

const disputeOf = (milestoneId: number, seconds: number) =>
  event("milestone.disputed", { seconds, milestoneId });

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
