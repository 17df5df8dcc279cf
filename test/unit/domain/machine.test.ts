import { describe, expect, it } from "vitest";
import { contractMachine, milestoneMachine, reachable } from "../../../src/index.ts";
import {
  hasStep,
  isFirstStatus,
  rankOf,
  sourceOf,
  statusAfter,
  statusesOf,
  type Machine,
} from "../../../src/domain/machine.ts";
import { impliedStatus } from "../../../src/domain/moves.ts";
import { specEventTypes } from "../../../src/events/event.ts";

const machines: [string, Machine][] = [
  ["contract", contractMachine],
  ["milestone", milestoneMachine],
];

const rowsOf = (machine: Machine, source: string) =>
  machine.transitions
    .filter((row) => row.source === source)
    .map(({ from, event, to }) => `${from} ${event} ${to}`);

describe.each(machines)("the %s machine", (entity, machine) => {
  it("is plain data that names its entity and gives each row an entity's from, event, to and source", () => {
    expect(machine.entity).toBe(entity);
    expect(JSON.parse(JSON.stringify(machine))).toEqual(machine);
    for (const row of machine.transitions)
      expect(Object.keys(row).sort()).toEqual(["event", "from", "source", "to"]);
  });

  it("has no cycle", () => {
    for (const status of statusesOf(machine)) expect(reachable(machine, status, status)).toBe(false);
  });

  it("has no row twice", () => {
    const rows = machine.transitions.map(({ from, event, to }) => `${from} ${event} ${to}`);
    expect(new Set(rows).size).toBe(rows.length);
  });

  it("leads on from every status that is not terminal, and from no terminal one", () => {
    for (const status of statusesOf(machine))
      expect(machine.transitions.some(({ from }) => from === status)).toBe(
        !machine.terminal.includes(status),
      );
  });

  it("reaches every status from a first one, and ranks it by the longest path", () => {
    for (const status of statusesOf(machine)) {
      const before = machine.transitions.filter(({ to, from }) => to === status && from !== null);
      const ranks = before.map(({ from }) => rankOf(machine, from ?? ""));
      expect(rankOf(machine, status)).toBe(before.length === 0 ? 0 : Math.max(...ranks) + 1);
    }
  });
});

describe("the rows marked spec", () => {
  it("of the contract are those of §3", () => {
    expect(rowsOf(contractMachine, "spec").sort()).toEqual(
      [
        "null contract.created pending",
        "Escrow refund.full-initiated RefundInProgress",
        "Dispute refund.full-initiated RefundInProgress",
        "Escrow milestone.refund.full-initiated RefundInProgress",
        "Dispute milestone.refund.full-initiated RefundInProgress",
        "RefundInProgress refund.full-succeeded Refunded",
        "RefundInProgress contract.refunded Refunded",
        "RefundInProgress milestone.refund.full-succeeded Cancelled",
      ].sort(),
    );
  });

  it("of the milestone are those of §3", () => {
    expect(rowsOf(milestoneMachine, "spec").sort()).toEqual([
      "Escrow milestone.refund.full-initiated RefundInProgress",
      "RefundInProgress milestone.refund.full-succeeded Refunded",
    ]);
  });
});

describe("the rows marked inferred", () => {
  it("of the contract are those that the events' meanings and the supplement's statuses imply", () => {
    expect(rowsOf(contractMachine, "inferred").sort()).toEqual(
      [
        "null null Draft",
        "Draft contract.created pending",
        "pending null Accepted",
        ...["pending", "Accepted"].flatMap((from) => [
          `${from} contract.approved Approved`,
          `${from} contract.rejected Rejected`,
        ]),
        ...["pending", "Accepted", "Approved", "WaitingForBankPayment"].flatMap((from) => [
          `${from} contract.cancelled Cancelled`,
          `${from} null Expired`,
        ]),
        "Approved null WaitingForBankPayment",
        "Approved payment.completed Escrow",
        "WaitingForBankPayment payment.completed Escrow",
        "Escrow contract.disputed Dispute",
        ...["Escrow", "Dispute"].flatMap((from) => [
          `${from} contract.released Released`,
          `${from} refund.partial-initiated RefundInProgress`,
          `${from} null Terminated`,
        ]),
        "Released contract.completed Completed",
        "RefundInProgress refund.partial-succeeded Refunded",
        "RefundInProgress null PartiallyRefunded",
      ].sort(),
    );
  });

  it("of the milestone are those of its payment, its dispute, its release and the earlier edition's refunds", () => {
    expect(rowsOf(milestoneMachine, "inferred").sort()).toEqual(
      [
        "null null pending",
        "null milestone.payment.completed Escrow",
        "pending milestone.payment.completed Escrow",
        "Escrow milestone.disputed Disputed",
        "Escrow milestone.released Released",
        "Disputed milestone.released Released",
        "Released milestone.completed Completed",
        "Escrow refund.full-initiated RefundInProgress",
        "Escrow refund.partial-initiated RefundInProgress",
        "RefundInProgress refund.full-succeeded Refunded",
        "RefundInProgress refund.partial-succeeded Refunded",
      ].sort(),
    );
  });
});

/** Each step is `from to`, or `from to event`; `·` is no status. */
function machineOf(...steps: readonly string[]): Machine {
  return {
    entity: "contract",
    terminal: [],
    transitions: steps.map((step) => {
      const [from = "", to = "", event = null] = step.split(" ");
      return { from: from === "·" ? null : from, event, to, source: "inferred" };
    }),
  };
}

const diamond = () => machineOf("· A", "A B", "A C", "B D", "C D", "D E");

describe("a machine of one's own", () => {
  it("reaches over every way, forward only, and nothing from or to a status that it lacks", () => {
    const own = diamond();
    const reached = (from: string) => ["A", "B", "C", "D", "E", "X"].filter((to) => reachable(own, from, to));
    expect(reached("A")).toEqual(["B", "C", "D", "E"]);
    expect(reached("B")).toEqual(["D", "E"]);
    expect(reached("E")).toEqual([]);
    expect(reached("X")).toEqual([]);
  });

  it("has the steps of its rows, and begins where a row begins from nothing", () => {
    const own = diamond();
    expect(hasStep(own, "A", "B")).toBe(true);
    expect(hasStep(own, "A", "D")).toBe(false);
    expect(hasStep(own, "B", "A")).toBe(false);
    expect(isFirstStatus(own, "A")).toBe(true);
    expect(isFirstStatus(own, "B")).toBe(false);
  });

  it("names each status once, in the order of its first mention", () => {
    expect(statusesOf(machineOf("· B", "B C", "B A", "C A"))).toEqual(["B", "C", "A"]);
    expect(statusesOf(machineOf("A B", "B C"))).toEqual(["A", "B", "C"]);
    expect(statusesOf(machineOf("· A"))).toEqual(["A"]);
  });

  it.each([
    ["the short way first", ["· A", "A D", "A B", "B C", "C D", "D E"]],
    ["the long way first", ["· A", "A B", "B C", "C D", "A D", "D E"]],
    ["a late beginning first", ["· D", "· A", "A B", "B C", "C D", "D E"]],
  ])("ranks by the longest way from a beginning: %s", (_, steps) => {
    const own = machineOf(...steps);
    const ranks = ["A", "B", "C", "D", "E", "X"].map((status) => rankOf(own, status));
    expect(ranks).toEqual([0, 1, 2, 3, 4, Number.POSITIVE_INFINITY]);
  });

  it("gives no rank to a status that no beginning leads to", () => {
    const own = machineOf("· A", "B C");
    expect(["A", "B", "C"].map((status) => rankOf(own, status))).toEqual([0, Infinity, Infinity]);
  });

  it("says where an event leads, and nothing of an event that it does not name", () => {
    const own = machineOf("A B go", "B C stop", "A C");
    expect(["go", "stop", "other"].map((event) => statusAfter(own, event))).toEqual(["B", "C", null]);
  });

  it("begins in no status unless a row says so", () => {
    expect(isFirstStatus(machineOf("A B"), "A")).toBe(false);
    expect(sourceOf(machineOf("A B"), null, "B", "go")).toBe("unexpected");
  });

  it("is kept apart from another machine", () => {
    const [one, other] = [machineOf("· A", "A B"), machineOf("· B", "B A")];
    expect([reachable(one, "A", "B"), reachable(other, "A", "B")]).toEqual([true, false]);
    expect([reachable(one, "B", "A"), reachable(other, "B", "A")]).toEqual([false, true]);
  });
});

describe("the machines", () => {
  it("end where the supplement's statuses end", () => {
    expect([...contractMachine.terminal].sort()).toEqual(
      ["Refunded", "PartiallyRefunded", "Cancelled", "Completed", "Rejected", "Expired", "Terminated"].sort(),
    );
  });

  it("name every status of the supplement, lower case where the service writes it so", () => {
    expect(new Set(statusesOf(contractMachine))).toEqual(
      new Set([
        "Draft",
        "pending",
        "Accepted",
        "Approved",
        "Rejected",
        "Expired",
        "Completed",
        "Cancelled",
        "WaitingForBankPayment",
        "Escrow",
        "Dispute",
        "Released",
        "Refunded",
        "PartiallyRefunded",
        "Terminated",
        "RefundInProgress",
      ]),
    );
    expect(new Set(statusesOf(milestoneMachine))).toEqual(
      new Set(["pending", "Escrow", "Released", "Disputed", "Completed", "RefundInProgress", "Refunded"]),
    );
  });

  it("have a row for every event type that means a status", () => {
    for (const event of specEventTypes) {
      const status = impliedStatus(event);
      if (status === null) continue;
      const machine = event.startsWith("milestone.") ? milestoneMachine : contractMachine;
      expect(
        machine.transitions.some((row) => row.event === event && row.to === status),
        event,
      ).toBe(true);
    }
  });

  it("tell what reaches what, over one step or many", () => {
    expect(reachable(contractMachine, "pending", "Completed")).toBe(true);
    expect(reachable(contractMachine, "Escrow", "Approved")).toBe(false);
    expect(reachable(contractMachine, "Frozen", "Escrow")).toBe(false);
    expect(hasStep(contractMachine, "pending", "Escrow")).toBe(false);
    expect(hasStep(contractMachine, "Approved", "Escrow")).toBe(true);
  });

  it("put unknown statuses last", () => {
    expect(rankOf(contractMachine, "Frozen")).toBe(Number.POSITIVE_INFINITY);
    expect(isFirstStatus(contractMachine, "Frozen")).toBe(false);
  });

  it("say whose word a step is: the row of that event first", () => {
    expect(sourceOf(contractMachine, "Escrow", "RefundInProgress", "refund.partial-initiated")).toBe(
      "inferred",
    );
    expect(sourceOf(contractMachine, "Escrow", "RefundInProgress", "snapshot")).toBe("spec");
    expect(sourceOf(contractMachine, "Released", "Dispute", "contract.disputed")).toBe("unexpected");
    expect(sourceOf(contractMachine, null, "pending", "contract.created")).toBe("spec");
  });
});
