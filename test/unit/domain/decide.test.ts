import { describe, expect, it } from "vitest";
import { contractMachine } from "../../../src/domain/contract.ts";
import { decideEvent, decideSnapshot, type Standing } from "../../../src/domain/decide.ts";
import { milestoneMachine } from "../../../src/domain/milestone.ts";
import { orderKeyOf } from "../../../src/shared/wire-time.ts";
import { at, skewMs } from "../../support/delivery.ts";

const show = (given: Standing, next: string, seconds: number, updated: number | null = null) =>
  decideSnapshot(
    contractMachine,
    given,
    { next, orderKey: key(seconds), updatedKey: updated === null ? null : key(updated) },
    skewMs,
  );

const noKey = "";
const key = (seconds: number | null): string => (seconds === null ? noKey : orderKeyOf(at(seconds)));

function standing(status: string | null, seconds: number | null = 0, derived = false): Standing {
  return { status, statusKey: key(seconds), derived };
}

interface EventRow {
  readonly given: Standing;
  readonly next: string;
  readonly prev?: string;
  readonly seconds?: number | null;
  readonly gives: readonly [moved: boolean, anomaly: string | null];
}

const rows: Record<string, EventRow> = {
  "stays when it is there already": {
    given: standing("Refunded"),
    next: "Refunded",
    prev: "RefundInProgress",
    gives: [false, null],
  },
  "moves from nothing to a first status": {
    given: standing(null, null),
    next: "pending",
    gives: [true, null],
  },
  "moves from nothing to Draft, which may be first too": {
    given: standing(null, null),
    next: "Draft",
    gives: [true, null],
  },
  "moves from nothing to a later status with a gap": {
    given: standing(null, null),
    next: "Escrow",
    prev: "Approved",
    gives: [true, "gap"],
  },
  "moves from nothing to an unknown status with a gap": {
    given: standing(null, null),
    next: "Frozen",
    gives: [true, "gap"],
  },
  "moves when the previous status is the current one": {
    given: standing("Escrow"),
    next: "Dispute",
    prev: "Escrow",
    gives: [true, null],
  },
  "moves back when the previous status is the current one": {
    given: standing("Dispute"),
    next: "Escrow",
    prev: "Dispute",
    gives: [true, null],
  },
  "moves out of a terminal status when the previous status is it, and is flagged": {
    given: standing("Cancelled"),
    next: "Dispute",
    prev: "Cancelled",
    seconds: 600,
    gives: [true, "after-terminal"],
  },
  "is flagged out of a terminal status within the skew too": {
    given: standing("Refunded", 0),
    next: "RefundInProgress",
    prev: "Refunded",
    seconds: 1,
    gives: [true, "after-terminal"],
  },
  "is flagged out of a terminal status that a derived move set too": {
    given: standing("Cancelled", 0, true),
    next: "Escrow",
    prev: "Cancelled",
    gives: [true, "after-terminal"],
  },
  "is flagged out of a terminal status to one that is unknown": {
    given: standing("Completed"),
    next: "Frozen",
    prev: "Completed",
    gives: [true, "after-terminal"],
  },
  "moves to an unknown status when the previous status is the current one": {
    given: standing("Escrow"),
    next: "Frozen",
    prev: "Escrow",
    gives: [true, null],
  },
  "moves by a step of the machine without a previous status": {
    given: standing("Approved"),
    next: "Escrow",
    gives: [true, null],
  },
  "moves with a gap when something in between was missed": {
    given: standing("pending"),
    next: "Escrow",
    prev: "Approved",
    gives: [true, "gap"],
  },
  "moves with a gap when a step is claimed from elsewhere": {
    given: standing("Approved"),
    next: "Escrow",
    prev: "WaitingForBankPayment",
    gives: [true, "gap"],
  },
  "is stale when behind within the skew": {
    given: standing("Escrow", 0),
    next: "Approved",
    prev: "pending",
    seconds: 30,
    gives: [false, null],
  },
  "is stale at exactly the skew": {
    given: standing("Escrow", 0),
    next: "Approved",
    prev: "pending",
    seconds: 60,
    gives: [false, null],
  },
  "moves back beyond the skew, as the service says": {
    given: standing("Escrow", 0),
    next: "Approved",
    prev: "pending",
    seconds: 61,
    gives: [true, "unexpected-transition"],
  },
  "is stale out of a terminal status too, within the skew": {
    given: standing("Refunded", 0),
    next: "RefundInProgress",
    prev: "Escrow",
    seconds: 10,
    gives: [false, null],
  },
  "stays after a terminal status": {
    given: standing("Completed", 0),
    next: "Escrow",
    prev: "Approved",
    seconds: 600,
    gives: [false, "after-terminal"],
  },
  "stays after a terminal status when nothing leads either way": {
    given: standing("Rejected", 0),
    next: "Escrow",
    prev: "Approved",
    seconds: 1,
    gives: [false, "after-terminal"],
  },
  "leaves a terminal status that a derived move set": {
    given: standing("Cancelled", 0, true),
    next: "Released",
    prev: "Escrow",
    seconds: 600,
    gives: [true, "unexpected-transition"],
  },
  "moves unexpectedly where nothing leads": {
    given: standing("Released", 0),
    next: "Dispute",
    prev: "Escrow",
    seconds: 600,
    gives: [true, "unexpected-transition"],
  },
  "moves unexpectedly to an unknown status": {
    given: standing("Escrow", 0),
    next: "Frozen",
    prev: "Dispute",
    seconds: 1,
    gives: [true, "unexpected-transition"],
  },
  "is stale between two events without any time": {
    given: standing("Escrow", null),
    next: "Approved",
    prev: "pending",
    seconds: null,
    gives: [false, null],
  },
  "moves back with a time after a move without one": {
    given: standing("Escrow", null),
    next: "Approved",
    prev: "pending",
    seconds: 0,
    gives: [true, "unexpected-transition"],
  },
};

describe("an event", () => {
  it.each(Object.entries(rows))("%s", (_, { given, next, prev = null, seconds = 0, gives }) => {
    const verdict = decideEvent(contractMachine, given, { next, prev, orderKey: key(seconds) }, skewMs);
    expect([verdict.moved, verdict.anomaly]).toEqual(gives);
  });

  it("moves a milestone by the milestone's own machine", () => {
    const claim = { next: "Disputed", prev: null, orderKey: key(1) };
    expect(decideEvent(milestoneMachine, standing("Escrow"), claim, skewMs)).toEqual({
      moved: true,
      anomaly: null,
    });
    expect(decideEvent(milestoneMachine, standing("Released"), claim, 0)).toMatchObject({
      anomaly: "unexpected-transition",
    });
  });

  it("is never stale with a skew of nothing, but at the very same time", () => {
    const claim = { next: "Approved", prev: "pending", orderKey: key(0) };
    expect(decideEvent(contractMachine, standing("Escrow", 0), claim, 0).moved).toBe(false);
    expect(decideEvent(contractMachine, standing("Escrow", -1), claim, 0).moved).toBe(true);
  });
});

describe("a snapshot", () => {
  it("moves outright, forward, sideways or out of a terminal status, and flags nothing", () => {
    expect(show(standing("pending"), "Released", 300)).toEqual({ moved: true, anomaly: null });
    expect(show(standing("Released"), "Dispute", 300)).toEqual({ moved: true, anomaly: null });
    expect(show(standing("Refunded"), "Escrow", 300)).toEqual({ moved: true, anomaly: null });
    expect(show(standing(null, null), "Escrow", 300)).toEqual({ moved: true, anomaly: null });
  });

  it("stays when it shows what is known", () => {
    expect(show(standing("Escrow"), "Escrow", 300)).toEqual({ moved: false, anomaly: null });
  });

  it("does not move when it is behind within the skew", () => {
    expect(show(standing("Escrow", 0), "Approved", 60)).toEqual({ moved: false, anomaly: "stale-read" });
    expect(show(standing("Escrow", 0), "Approved", 61)).toEqual({ moved: true, anomaly: null });
  });

  it("does not move when it was updated before the current move", () => {
    expect(show(standing("Escrow", 0), "Approved", 300, -1)).toEqual({ moved: false, anomaly: "stale-read" });
    expect(show(standing("Escrow", 0), "Approved", 300, 0)).toEqual({ moved: true, anomaly: null });
  });
});
