import { describe, expect, it } from "vitest";
import type { FoldInput } from "../../../src/domain/input.ts";
import { at, event, foldOf, kindsOf } from "../../support/delivery.ts";

const payments = (...inputs: FoldInput[]) => [...foldOf(...inputs).payments.values()];

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
