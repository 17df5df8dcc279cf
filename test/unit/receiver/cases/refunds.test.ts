/** Cases from public bug reports: refunds. */
import { expect } from "vitest";
import { casesOf } from "../../../support/cases.ts";
import { delivery, event, foldOf, kindsOf } from "../../../support/delivery.ts";
import { openMirror, testClock } from "../../../support/mirror.ts";

const testCase = casesOf("refunds");

const refundEvent = (id: string, seconds: number, transactionId: string, type = "refund.full-initiated") =>
  event(type, { id, seconds, transactionId, amount: 25 });

testCase(
  "Refunds matched by amount or parent instead of id",
  "T-1 is initiated, T-2 succeeded, and only 25.00 are back",
  () => {
    const state = foldOf(
      refundEvent("1", 0, "T-1"),
      refundEvent("2", 0, "T-2"),
      refundEvent("3", 60, "T-2", "refund.full-succeeded"),
    );
    const refunds = [...state.refunds.values()];
    expect(Object.fromEntries(refunds.map(({ refundId, state: reached }) => [refundId, reached]))).toEqual({
      "T-1": "initiated",
      "T-2": "succeeded",
    });
    expect(
      refunds
        .filter(({ state: reached }) => reached === "succeeded")
        .reduce((sum, { amountMinor }) => sum + (amountMinor ?? 0), 0),
    ).toBe(2500);
  },
);

testCase(
  "Refund reported done, then fails",
  "the unknown failure is flagged, not swallowed; a late beginning revives nothing",
  () => {
    const failed = event("refund.full-failed", {
      id: "f",
      seconds: 200,
      transactionId: "T-1",
      previousStatus: "Refunded",
    });
    const late = refundEvent("late", 300, "T-1");
    const state = foldOf(
      refundEvent("1", 0, "T-1"),
      refundEvent("2", 100, "T-1", "refund.full-succeeded"),
      failed,
      late,
    );
    expect(kindsOf(state)).toEqual(["gap", "unknown-event", "after-terminal"]);
    expect(state.refunds.get("T-1")).toMatchObject({ state: "succeeded" });
    expect(state.contract.status).toBe("Refunded");
  },
);

testCase(
  "Pending refund shown as failed",
  "a silent refund is initiated, listed by its age, and succeeds when the webhook comes",
  async () => {
    const clock = testClock();
    const mirror = await openMirror({ clock });
    await mirror.receive(delivery("refund.full-initiated", { id: "1", seconds: 0, transactionId: "T" }));
    clock.advance(86_400_000);
    expect((await mirror.refunds.list({ state: "initiated", olderThan: 3_600_000 })).items).toMatchObject([
      { refundId: "T", succeededAt: null },
    ]);
    await mirror.receive(delivery("refund.full-succeeded", { id: "2", seconds: 86_400, transactionId: "T" }));
    expect(await mirror.refunds.get("T")).toMatchObject({ state: "succeeded" });
  },
);
