import { contractMachine } from "./contract.ts";
import { statusesOf, type Machine } from "./machine.ts";
import { milestoneMachine } from "./milestone.ts";

/** A contract's status. It can also be a newer name. `unknown` until an event or an API read gives one. */
export type ContractStatus =
  | "Draft"
  | "pending"
  | "Accepted"
  | "Approved"
  | "Rejected"
  | "Expired"
  | "Completed"
  | "Cancelled"
  | "WaitingForBankPayment"
  | "Escrow"
  | "Dispute"
  | "Released"
  | "Refunded"
  | "PartiallyRefunded"
  | "Terminated"
  | "RefundInProgress"
  | "unknown"
  | (string & {});

/** A milestone's status. It can also be a newer name. */
export type MilestoneStatus =
  | "pending"
  | "Escrow"
  | "Released"
  | "Disputed"
  | "Completed"
  | "RefundInProgress"
  | "Refunded"
  | (string & {});

/** The canonical spelling of a status: known names in any case, others as sent (semantics §5.4). */
export function canonicalStatus(machine: Machine, status: string): string {
  return spellings[machine.entity].get(status.toLowerCase()) ?? status;
}

// The service says Dispute of contracts and Disputed of milestones (§3); each is understood on the other.
const spellings = {
  contract: spellingsOf(contractMachine, [["disputed", "Dispute"]]),
  milestone: spellingsOf(milestoneMachine, [["dispute", "Disputed"]]),
} as const;

function spellingsOf(machine: Machine, aliases: [string, string][]): Map<string, string> {
  return new Map([...statusesOf(machine).map((name) => [name.toLowerCase(), name] as const), ...aliases]);
}
