import { describe, expect, it } from "vitest";
import { contractMachine, milestoneMachine, reachable } from "../../../src/index.ts";
import {
  hasStep,
  isFirstStatus,
  rankOf,
  sourceOf,
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
