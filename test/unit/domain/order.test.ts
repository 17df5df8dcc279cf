import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { advance } from "../../../src/domain/fold.ts";
import { compareText, groupByTime, queueTied } from "../../../src/domain/order.ts";
import { emptyState, type TransitionRecord } from "../../../src/domain/records.ts";
import { finish } from "../../../src/domain/steps.ts";
import { at, event, foldOf, kindsOf, permutations, skewMs, snapshot } from "../../support/delivery.ts";
import type { FoldInput, RedactionInput } from "../../../src/domain/input.ts";
import { answered, asked } from "./refunds/own-calls.ts";

const everyOrder = (inputs: FoldInput[]) =>
  new Set(permutations(inputs).map((order) => historyOf(...order).join(" → ")));

const historyOf = (...inputs: FoldInput[]) => foldOf(...inputs).transitions.map(({ to }) => to);

describe("the order of events", () => {
  it("is that of data.timestamp, not of createdAt or of arrival", () => {
    const approved = event("contract.approved", { seconds: 10, createdAt: at(900) });
    const paid = event("payment.completed", { seconds: 20, createdAt: at(800), paymentId: "P" });
    expect(historyOf(paid, approved)).toEqual(["Approved", "Escrow"]);
  });

  it("falls back to createdAt", () => {
    const approved = event("contract.approved", { createdAt: at(10) });
    const paid = event("payment.completed", { createdAt: at(20), paymentId: "P" });
    expect(historyOf(paid, approved)).toEqual(["Approved", "Escrow"]);
  });

  it.each(["", "0001-01-01T00:00:00", "soon", "2026-02-30T14:30:00Z", 0, {}])(
    "falls back to createdAt from a time that can't be read: %j",
    (timestamp) => {
      const state = foldOf(
        event("contract.created", { seconds: 10 }),
        event("contract.approved", { createdAt: at(20), timestamp }),
      );
      expect(state.contract).toMatchObject({ status: "Approved", statusSince: at(20), updatedAt: at(20) });
      expect(kindsOf(state)).toEqual([]);
    },
  );

  it("tells seven-digit fractions apart", () => {
    const approved = event("contract.approved", { timestamp: "2026-04-14T14:30:00.1234567Z" });
    const paid = event("payment.completed", { timestamp: "2026-04-14T14:30:00.1234568Z", paymentId: "P" });
    expect(historyOf(paid, approved)).toEqual(["Approved", "Escrow"]);
  });

  it("converts offsets", () => {
    const approved = event("contract.approved", { timestamp: "2026-04-14T15:29:59+01:00" });
    const paid = event("payment.completed", { timestamp: "2026-04-14T14:30:00Z", paymentId: "P" });
    expect(historyOf(paid, approved)).toEqual(["Approved", "Escrow"]);
  });

  it("reads a time without a zone as UTC and flags it", () => {
    const state = foldOf(event("contract.created", { timestamp: "2026-04-14T14:30:00" }));
    expect(state.contract.createdAt).toBe("2026-04-14T14:30:00Z");
    expect(kindsOf(state)).toEqual(["no-zone"]);
  });

  it.each([undefined, "soon", "0001-01-01T00:00:00Z"])(
    "puts a time of %j before all timed events",
    (timestamp) => {
      const state = foldOf(
        event("contract.created", { seconds: 0 }),
        event("contract.disputed", { timestamp }),
      );
      expect(state.transitions.map(({ to }) => to)).toEqual(["Dispute", "pending"]);
      expect(kindsOf(state)).toContain("no-time");
    },
  );

  it("groups one instant however it was written", () => {
    const steps = groupByTime([
      event("contract.approved", { timestamp: "2026-04-14T14:30:00.0000000Z" }),
      event("contract.created", { timestamp: "2026-04-14T13:30:00-01:00" }),
      event("contract.released", { timestamp: "2026-04-14T14:30:01Z" }),
    ]);
    expect(finish(steps).map(({ length }) => length)).toEqual([2, 1]);
  });
});

/** What semantics §5.6 says, word by word: the first that follows from where its entity stands, else the first of all. */
function foldOneByOne(inputs: readonly FoldInput[]): readonly TransitionRecord[] {
  let state = emptyState("CNT-1");
  const transitions: TransitionRecord[] = [];
  const queue = finish(queueTied(inputs));
  const standsAt = (milestoneId: string | null): string | null | undefined =>
    milestoneId === null ? state.contract.status : state.milestones.get(milestoneId)?.status;
  while (queue.length > 0) {
    const follows = queue.findIndex(
      ({ move }) => move?.prev != null && move.prev === standsAt(move.milestoneId),
    );
    const [next] = queue.splice(Math.max(follows, 0), 1);
    if (next !== undefined) state = advance(state, [next.input], { skewMs });
    transitions.push(...state.transitions);
  }
  return transitions;
}

/** Events and reads of one instant, many of which follow from each other. */
const tied = fc.array(
  fc.record({
    milestoneId: fc.constantFrom(undefined, undefined, 1, 2),
    status: fc.constantFrom("Escrow", "Released", "RefundInProgress", "Frozen", "Completed"),
    previousStatus: fc.constantFrom(
      undefined,
      "Escrow",
      "Released",
      "RefundInProgress",
      "Frozen",
      "Completed",
    ),
    isRead: fc.integer({ max: 9 }).map((one) => one === 0),
  }),
  { maxLength: 24 },
);

describe("events of equal times", () => {
  it("come in the order that their rule gives, taken word by word", () => {
    fc.assert(
      fc.property(tied, (shapes) => {
        const inputs = shapes.map(({ milestoneId, status, previousStatus, isRead }, id) => {
          const milestones = [{ milestoneId: "1", status }];
          if (isRead) return snapshot({ seconds: 0, status, milestones, digest: `${id}` });
          const type = milestoneId === undefined ? "contract.updated" : "milestone.updated";
          return event(type, { id: `${id}`, seconds: 0, milestoneId, status, previousStatus });
        });
        expect(foldOf(...inputs).transitions.map(({ webhookId, to }) => [webhookId, to])).toEqual(
          foldOneByOne(inputs).map(({ webhookId, to }) => [webhookId, to]),
        );
      }),
      { numRuns: 500 },
    );
  });

  it("go first by who follows the current status", () => {
    const inputs = [
      event("contract.disputed", { seconds: 0, status: "Dispute", previousStatus: "Escrow" }),
      event("payment.completed", {
        seconds: 0,
        status: "Escrow",
        previousStatus: "Approved",
        paymentId: "P",
      }),
      event("contract.approved", { seconds: 0, status: "Approved", previousStatus: "pending" }),
      event("contract.created", { seconds: -1 }),
    ];
    expect(everyOrder(inputs)).toEqual(new Set(["pending → Approved → Escrow → Dispute"]));
  });

  it("follow even against the rank: a dispute settled in the same instant", () => {
    const inputs = [
      event("payment.completed", { seconds: 0, status: "Escrow", previousStatus: "Dispute", paymentId: "P" }),
      event("contract.released", { seconds: 0, status: "Released", previousStatus: "Escrow" }),
      event("contract.disputed", { seconds: -9, status: "Dispute" }),
    ];
    expect(everyOrder(inputs)).toEqual(new Set(["Dispute → Escrow → Released"]));
  });

  it("then by the lower rank", () => {
    const inputs = [
      event("contract.released", { seconds: 0 }),
      event("payment.completed", { seconds: 0, paymentId: "P" }),
      event("contract.approved", { seconds: 0 }),
    ];
    expect(everyOrder(inputs)).toEqual(new Set(["Approved → Escrow → Released"]));
  });

  it("put an unknown status last", () => {
    const inputs = [
      event("contract.frozen", { seconds: 0, status: "Frozen" }),
      event("contract.released", { seconds: 0 }),
    ];
    expect(everyOrder(inputs)).toEqual(new Set(["Released → Frozen"]));
  });

  it("then by the payload's id", () => {
    const inputs = [
      event("contract.frozen", { id: "a", seconds: 0, status: "Frozen" }),
      event("contract.thawed", { id: "b", seconds: 0, status: "Thawed" }),
    ];
    expect(everyOrder(inputs)).toEqual(new Set(["Frozen → Thawed"]));
  });

  it("then by the digest", () => {
    const inputs = [
      event("contract.frozen", { seconds: 0, status: "Frozen" }),
      event("contract.frozen", { seconds: 0, status: "Thawed" }),
      event("contract.frozen", { seconds: 0, status: "Melted" }),
    ];
    const byDigest = inputs
      .toSorted((a, b) => compareText(a.digest, b.digest))
      .map(({ facts }) => facts.status);
    expect(everyOrder(inputs)).toEqual(new Set([byDigest.join(" → ")]));
  });

  it("come out one way for milestones as for contracts", () => {
    const inputs = [
      event("milestone.released", { seconds: 0, milestoneId: 1, previousStatus: "Escrow" }),
      event("milestone.payment.completed", { seconds: 0, milestoneId: 1, paymentId: "P" }),
      event("milestone.payment.completed", { seconds: 0, milestoneId: 2, paymentId: "P" }),
    ];
    expect(everyOrder(inputs).size).toBe(1);
    expect(foldOf(...inputs).milestones.get("1")?.status).toBe("Released");
  });

  it("hold snapshots of one second by rank, then digest", () => {
    const inputs = [
      snapshot({ seconds: 0, status: "Frozen", digest: "b" }),
      snapshot({ seconds: 0, status: "Thawed", digest: "a" }),
      snapshot({ seconds: 0, status: "escrow", digest: "c" }),
    ];
    expect(everyOrder(inputs)).toEqual(new Set(["Escrow → Thawed → Frozen"]));
  });
});

describe("inputs of one instant", () => {
  it("no longer follow from where their contract stood before a milestone's refund took it along", () => {
    const paid = event("payment.completed", { seconds: -20, paymentId: "P" });
    const milestonePaid = event("milestone.payment.completed", {
      seconds: -10,
      milestoneId: 13,
      paymentId: "P",
    });
    const refund = event("milestone.refund.full-initiated", {
      seconds: 0,
      milestoneId: 13,
      transactionId: "T",
      previousStatus: "Escrow",
    });
    const completed = event("contract.completed", { seconds: 0, previousStatus: "Escrow" });
    const orders = everyOrder([paid, milestonePaid, refund, completed]);
    expect(orders).toEqual(new Set(["Escrow → Escrow → RefundInProgress → RefundInProgress → Completed"]));
  });

  it("that follow no longer wait for those of a lower rank", () => {
    const inputs = [
      event("payment.completed", { seconds: -20, paymentId: "P" }),
      event("milestone.payment.completed", { seconds: -10, milestoneId: 13, paymentId: "P" }),
      event("milestone.refund.full-initiated", {
        seconds: 0,
        milestoneId: 13,
        transactionId: "T",
        previousStatus: "Escrow",
      }),
      event("contract.released", { seconds: 0, previousStatus: "Approved" }),
      event("contract.completed", { seconds: 0, previousStatus: "Escrow" }),
    ];
    const orders = everyOrder(inputs);
    expect(orders).toEqual(
      new Set(["Escrow → Escrow → RefundInProgress → RefundInProgress → Released → Completed"]),
    );
  });

  it("are each taken once, though one follows from where it stays and is looked at twice", () => {
    const inputs = [
      event("refund.full-initiated", { seconds: -20, transactionId: "C" }),
      event("milestone.payment.completed", { seconds: -10, milestoneId: 13, paymentId: "P" }),
      event("milestone.refund.full-initiated", {
        seconds: 0,
        milestoneId: 13,
        transactionId: "T",
        previousStatus: "Escrow",
      }),
      event("contract.updated", {
        seconds: 0,
        status: "RefundInProgress",
        previousStatus: "RefundInProgress",
      }),
      event("contract.completed", { seconds: 0, previousStatus: "Escrow" }),
    ];
    const told = foldOf(...inputs).transitions.map((move) => `${move.event} ${move.entity} ${move.to}`);
    expect(told).toEqual([
      "refund.full-initiated contract RefundInProgress",
      "milestone.payment.completed milestone Escrow",
      "milestone.refund.full-initiated milestone RefundInProgress",
      "milestone.refund.full-initiated contract RefundInProgress",
      "contract.updated contract RefundInProgress",
      "contract.completed contract Completed",
    ]);
  });

  it("that move nothing come after those that do", () => {
    const nothing = event("milestone.released", { seconds: 0, reference: "last" });
    const moving = event("contract.created", { seconds: 0, reference: "first" });
    for (const order of permutations<FoldInput>([nothing, moving]))
      expect(foldOf(...order).contract).toMatchObject({ status: "pending", reference: "last" });
  });

  it("that show no status come after those that do", () => {
    const a = snapshot({ seconds: 10, fields: { notes: "a" } });
    const b = snapshot({ seconds: 10, fields: { notes: "b" } });
    const shown = snapshot({ seconds: 10, status: "Escrow", fields: { notes: "c" } });
    const last = [a, b].toSorted((x, y) => compareText(x.digest, y.digest))[1];
    for (const order of permutations<FoldInput>([a, b, shown]))
      expect(foldOf(...order).contract).toMatchObject({ status: "Escrow", notes: last?.facts.fields.notes });
  });
});

const redaction: RedactionInput = {
  kind: "redaction",
  digest: "b",
  receivedAt: at(0),
  facts: { contractId: "CNT-1", orderKey: "", takenAt: null },
};
const queued = (...inputs: FoldInput[]) => finish(queueTied(inputs)).map(({ input }) => input.digest);

describe("the queue of one instant", () => {
  it("has our request first, then what moves by rank, then the rest by the payload's id, then by digest", () => {
    const inputs: FoldInput[] = [
      { ...event("contract.noted", { seconds: 1, id: "1" }), digest: "0" },
      { ...answered("T"), digest: "c" },
      redaction,
      snapshot({ seconds: 1, digest: "a" }),
      { ...event("contract.noted", { seconds: 1 }), digest: "d" },
      snapshot({ seconds: 1, status: "Escrow", digest: "w" }),
      { ...event("contract.approved", { seconds: 1 }), digest: "x" },
      { ...event("contract.created", { seconds: 1 }), digest: "y" },
      { ...asked(), digest: "z" },
    ];
    for (const given of [inputs, inputs.toReversed()])
      expect(queued(...given)).toEqual(["z", "y", "x", "w", "a", "b", "c", "d", "0"]);
  });

  it("puts a read after an event of its rank that has no id, by digest, and before one that has", () => {
    const paid = event("payment.completed", { seconds: 1, paymentId: "P" });
    const inputs: FoldInput[] = [
      { ...event("payment.completed", { seconds: 1, paymentId: "P", id: "1" }), digest: "a" },
      snapshot({ seconds: 1, status: "Escrow", digest: "c" }),
      { ...paid, digest: "b" },
    ];
    expect(queued(...inputs)).toEqual(["b", "c", "a"]);
  });
});
