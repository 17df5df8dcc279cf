import { describe, expect, it } from "vitest";
import { contractMachine } from "../../../src/domain/contract.ts";
import { statusesOf } from "../../../src/domain/machine.ts";
import { milestoneMachine } from "../../../src/domain/milestone.ts";
import { canonicalStatus } from "../../../src/domain/status.ts";
import { event, foldOf, kindsOf } from "../../support/delivery.ts";

describe("a known status", () => {
  it.each([contractMachine, milestoneMachine])("is one in any case: %#", (machine) => {
    for (const status of statusesOf(machine))
      for (const written of [status, status.toLowerCase(), status.toUpperCase()])
        expect(canonicalStatus(machine, written)).toBe(status);
  });

  it.each([
    ["contract", contractMachine, "Pending", "pending"],
    ["contract", contractMachine, "Disputed", "Dispute"],
    ["contract", contractMachine, "dispute", "Dispute"],
    ["milestone", milestoneMachine, "Dispute", "Disputed"],
    ["milestone", milestoneMachine, "disputed", "Disputed"],
  ] as const)("of a %s is understood in the other's wording", (_, machine, written, canonical) => {
    expect(canonicalStatus(machine, written)).toBe(canonical);
  });

  it("is matched in previousStatus too", () => {
    const state = foldOf(
      event("payment.completed", {
        seconds: 0,
        status: "ESCROW",
        previousStatus: "Approved",
        paymentId: "P",
      }),
      event("contract.disputed", { seconds: 1, status: "Disputed", previousStatus: "escrow" }),
    );
    expect(state.contract).toMatchObject({ status: "Dispute", previousStatus: "Escrow" });
    expect(kindsOf(state)).toEqual(["gap"]);
  });
});

describe("an unknown status", () => {
  it.each(["UnderReview", "under_review", "__proto__", "constructor", "toString"])(
    "is kept as sent: %s",
    (status) => {
      expect(canonicalStatus(contractMachine, status)).toBe(status);
      const state = foldOf(
        event("contract.created", { seconds: 0 }),
        event("contract.updated", { seconds: 1, status }),
      );
      expect(state.contract.status).toBe(status);
    },
  );
});
