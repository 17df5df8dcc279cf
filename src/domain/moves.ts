import type { EventFacts } from "../events/event.ts";
import { contractMachine } from "./contract.ts";
import { familyOf } from "./input.ts";
import { statusAfter, type Machine } from "./machine.ts";
import { milestoneMachine } from "./milestone.ts";
import { canonicalStatus } from "./status.ts";

/** One thing that an event says of one entity. */
export interface ReportedMove {
  readonly machine: Machine;
  /** `null` for the contract itself. */
  readonly milestoneId: string | null;
  readonly next: string;
  readonly prev: string | null;
  /** The contract's part in a milestone's refund (§3): it comes without a `previousStatus`. */
  readonly derived: boolean;
}

/**
 * The moves that an event claims, the one that its own `status` speaks of first (semantics §5.3–§5.4). A `refund.*`
 * event that names a milestone is the earlier edition's milestone refund: its status speaks of the contract, and the
 * milestone moves as the type implies.
 */
export function reportedMoves(facts: EventFacts): ReportedMove[] {
  if (familyOf(facts.event) === "milestone") return [...milestoneMove(facts), ...derivedMove(facts)];
  if (isEarlierMilestoneRefund(facts)) return [...contractMove(facts, facts.status), ...impliedMove(facts)];
  return contractMove(facts, facts.status ?? impliedStatus(facts.event));
}

/** The status that an event type means by itself, `null` for one that means none. */
export function impliedStatus(eventType: string): string | null {
  return statusAfter(familyOf(eventType) === "milestone" ? milestoneMachine : contractMachine, eventType);
}

/** Whether `data.status` contradicts the event type (semantics §5.4): the status then wins. */
export function contradictsType(facts: EventFacts): boolean {
  const meant = impliedStatus(facts.event);
  if (meant === null || facts.status === null || isEarlierMilestoneRefund(facts)) return false;
  const machine = familyOf(facts.event) === "milestone" ? milestoneMachine : contractMachine;
  const stated = canonicalStatus(machine, facts.status);
  return stated !== meant && !(facts.event === "refund.partial-succeeded" && stated === "PartiallyRefunded");
}

function isEarlierMilestoneRefund(facts: EventFacts): boolean {
  return familyOf(facts.event) === "refund" && facts.milestoneId !== null;
}

function contractMove(facts: EventFacts, status: string | null): ReportedMove[] {
  return status === null ? [] : [move(contractMachine, null, status, facts.previousStatus)];
}

function milestoneMove(facts: EventFacts): ReportedMove[] {
  const status = facts.status ?? impliedStatus(facts.event);
  if (status === null || facts.milestoneId === null) return [];
  return [move(milestoneMachine, facts.milestoneId, status, facts.previousStatus)];
}

/** §3: a milestone's refund takes the contract along; the contract's machine says where. */
function derivedMove(facts: EventFacts): ReportedMove[] {
  const status = statusAfter(contractMachine, facts.event);
  return status === null ? [] : [{ ...move(contractMachine, null, status, null), derived: true }];
}

/** The milestone's move in a milestone refund of the earlier edition; the machine's row has the contract's event name. */
function impliedMove(facts: EventFacts): ReportedMove[] {
  const status = statusAfter(milestoneMachine, facts.event);
  return status === null ? [] : [move(milestoneMachine, facts.milestoneId, status, null)];
}

function move(machine: Machine, milestoneId: string | null, next: string, prev: string | null): ReportedMove {
  return {
    machine,
    milestoneId,
    next: canonicalStatus(machine, next),
    prev: prev === null ? null : canonicalStatus(machine, prev),
    derived: false,
  };
}
