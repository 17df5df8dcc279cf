/** Cases from public bug reports: events that come late, early, at once or after the end. */
import { expect, it } from "vitest";
import type { FoldInput } from "../../../../src/domain/input.ts";
import { sqlite } from "../../../../src/store/sqlite/store.ts";
import { casesOf, statusesOf } from "../../../support/cases.ts";
import {
  at,
  delivery,
  event,
  eventBody,
  foldOf,
  kindsOf,
  permutations,
  signed,
  skewMs,
  snapshot,
} from "../../../support/delivery.ts";
import { openMirror, temporaryFile } from "../../../support/mirror.ts";

const testCase = casesOf("order");

const verdictOf = (id: string, seconds: number, status: string, previousStatus: string) =>
  event("contract.updated", { id, seconds, status, previousStatus });

testCase(
  "Refund that arrives before its payment is thrown away",
  "all 24 orders end the same, and each is answered 200",
  async () => {
    const events = [
      eventBody("payment.completed", {
        id: "1",
        seconds: 0,
        status: "Escrow",
        previousStatus: "Approved",
        paymentId: "P",
      }),
      eventBody("milestone.payment.completed", {
        id: "2",
        seconds: 100,
        milestoneId: 5,
        status: "Escrow",
        paymentId: "P",
      }),
      eventBody("milestone.refund.full-initiated", {
        id: "3",
        seconds: 200,
        milestoneId: 5,
        transactionId: "T-1",
        previousStatus: "Escrow",
      }),
      eventBody("milestone.refund.full-succeeded", {
        id: "4",
        seconds: 300,
        milestoneId: 5,
        transactionId: "T-1",
        previousStatus: "RefundInProgress",
      }),
    ];
    const ends = new Set<string>();
    for (const order of permutations(events)) {
      const mirror = await openMirror();
      expect(await statusesOf(mirror, ...order.map((body) => signed(body)))).toEqual(
        Array(4).fill("200 applied"),
      );
      const { changedAt: _, ...contract } = (await mirror.contracts.get("CNT-1")) ?? { changedAt: "" };
      ends.add(JSON.stringify([contract, await mirror.contracts.history("CNT-1")]));
      expect(contract).toMatchObject({
        status: "Cancelled",
        milestones: [{ status: "Refunded" }],
        refunds: [{ refundId: "T-1", state: "succeeded" }],
      });
    }
    expect(ends.size).toBe(1);
  },
);

testCase(
  "Late older event overwrites newer status",
  "a released milestone stays released, whether the late one has a time or none",
  () => {
    const released = event("milestone.released", {
      id: "A",
      seconds: 300,
      milestoneId: 1,
      previousStatus: "Escrow",
    });
    for (const time of [{ seconds: 60 }, {}]) {
      const funded = event("milestone.payment.completed", {
        id: "B",
        milestoneId: 1,
        paymentId: "P",
        ...time,
      });
      for (const order of permutations([released, funded])) {
        const state = foldOf(...order);
        expect(state.milestones.get("1")).toMatchObject({ status: "Released", statusSince: at(300) });
        expect(kindsOf(state)).toEqual("seconds" in time ? [] : ["no-time"]);
      }
    }
  },
);

testCase(
  "State checked and changed in separate steps",
  "ten concurrent events from two connections end as their fold does",
  async () => {
    const file = temporaryFile();
    const mirrors = [
      await openMirror({ store: sqlite({ path: file, busyTimeoutMs: 10_000 }) }),
      await openMirror({ store: sqlite({ path: file, busyTimeoutMs: 10_000 }) }),
    ];
    for (let round = 0; round < 10; round++) {
      const contractId = `CNT-${round}`;
      const shapes = [
        ["milestone.payment.completed", { seconds: 0, paymentId: "P" }],
        ...[1, 2, 3].map(
          (index) =>
            [
              "milestone.released",
              { seconds: 100, id: `${round}-r${index}`, previousStatus: "Escrow" },
            ] as const,
        ),
        ["milestone.disputed", { seconds: 200 }],
        ...[1, 2, 3, 4, 5].map(
          (index) => ["milestone.completed", { seconds: 300 + index, id: `${round}-c${index}` }] as const,
        ),
      ] as const;
      const answers = await Promise.all(
        shapes.map(async ([type, shape], index) =>
          mirrors[index % 2]?.receive(delivery(type, { contractId, milestoneId: 1, ...shape })),
        ),
      );
      expect(answers.map((answer) => answer?.status)).toEqual(Array(10).fill(200));
      const truth = foldOf(
        ...shapes.map(([type, shape]) => event(type, { contractId, milestoneId: 1, ...shape })),
      );
      const history = (await mirrors[0]?.contracts.history(contractId)) ?? [];
      expect(history.map(({ to, moved, anomaly }) => [to, moved, anomaly])).toEqual(
        truth.transitions.map(({ to, moved, anomaly }) => [to, moved, anomaly]),
      );
      expect(history.filter(({ to, moved }) => to === "Released" && moved)).toHaveLength(1);
    }
  },
);

testCase(
  "Event for a contract the mirror has never seen",
  "it is 200, and attached when the contract comes",
  async () => {
    const mirror = await openMirror();
    const early = delivery("milestone.payment.completed", {
      id: "m",
      seconds: 10,
      contractId: "C-404",
      milestoneId: 1,
      paymentId: "P",
    });
    expect(await statusesOf(mirror, early)).toEqual(["200 applied"]);
    expect(await mirror.contracts.get("C-404")).toMatchObject({
      status: "unknown",
      milestones: [{ status: "Escrow" }],
    });
    await mirror.receive(delivery("contract.created", { id: "c", seconds: 0, contractId: "C-404" }));
    expect(await mirror.contracts.get("C-404")).toMatchObject({
      status: "pending",
      milestones: [{ status: "Escrow" }],
    });
  },
);

testCase(
  "Child event after the parent was closed or deleted",
  "each is 200, the milestone ends, the refund is attached",
  async () => {
    const mirror = await openMirror();
    expect(
      await statusesOf(
        mirror,
        delivery("contract.cancelled", { id: "1", seconds: 0 }),
        delivery("milestone.completed", { id: "2", seconds: 10, milestoneId: 1 }),
        delivery("refund.full-initiated", { id: "3", seconds: 600, transactionId: "T" }),
      ),
    ).toEqual(Array(3).fill("200 applied"));
    expect(await mirror.contracts.get("CNT-1")).toMatchObject({
      status: "Cancelled",
      milestones: [{ status: "Completed" }],
      refunds: [{ refundId: "T" }],
    });
  },
);

testCase(
  "Derived flag not cleared when a dispute verdict flips",
  "whichever verdict comes last, nothing is left of the other",
  () => {
    const opened = event("contract.disputed", {
      id: "1",
      seconds: 0,
      disputeId: "D",
      previousStatus: "Escrow",
    });
    const won = foldOf(
      opened,
      verdictOf("2", 100, "RefundInProgress", "Dispute"),
      verdictOf("3", 200, "Released", "RefundInProgress"),
    );
    const plain = foldOf(opened, verdictOf("3", 200, "Released", "Dispute"));
    const { previousStatus: _, transitionCount: __, anomalyCount: ___, ...contract } = won.contract;
    expect(plain.contract).toMatchObject(contract);
    expect(won.disputes).toEqual(plain.disputes);
  },
);

testCase(
  "Webhook beats the API answer (create contract)",
  "one contract, funded, in whatever order the answer is folded in",
  () => {
    const answer = snapshot({ seconds: 0, status: "pending", fields: { title: "T", amountMinor: 10000 } });
    const inputs: FoldInput[] = [
      answer,
      event("contract.created", { seconds: 0.5, amount: 100 }),
      event("payment.completed", { seconds: 0.9, paymentId: "P" }),
    ];
    for (const order of permutations(inputs))
      expect(foldOf(...order).contract).toMatchObject({ status: "Escrow", title: "T", amountMinor: 10000 });
  },
);

it("the skew of these tests is the default", () => {
  expect(skewMs).toBe(60_000);
});
