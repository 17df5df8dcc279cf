import type { ContractStatus, MilestoneStatus } from "../world/records.ts";

// The sandbox's own state machine, as data. Refunds, whose rows the specification shows, are in refunds.ts. The rows
// here are assumptions that the meanings of the events and the list of statuses suggest.

/**
 * An action that the API does not have. `deliver` and `receive` exist only in the
 * earlier edition.
 */
export type ContractAction =
  "approve" | "reject" | "cancel" | "pay" | "release" | "dispute" | "complete" | "deliver" | "receive";

export interface ContractStep {
  action: ContractAction;
  from: readonly ContractStatus[];
  to: ContractStatus;
  event: string;
  /** Does the same to each milestone that it can be done to. */
  cascades?: true;
  /** Only in the service's earlier edition (supplement). */
  earlierOnly?: true;
}

export interface MilestoneStep {
  action: ContractAction;
  from: readonly MilestoneStatus[];
  /** The contract's statuses in which the step is allowed. */
  within: readonly ContractStatus[];
  to: MilestoneStatus;
  event: string;
}

export const approval: ContractStep = {
  action: "approve",
  from: ["Pending"],
  to: "Approved",
  event: "contract.approved",
};

export const contractSteps: readonly ContractStep[] = [
  approval,
  { action: "reject", from: ["Pending"], to: "Rejected", event: "contract.rejected" },
  { action: "cancel", from: ["Pending", "Approved"], to: "Cancelled", event: "contract.cancelled" },
  { action: "pay", from: ["Approved"], to: "Escrow", event: "payment.completed", cascades: true },
  { action: "dispute", from: ["Escrow"], to: "Dispute", event: "contract.disputed" },
  {
    action: "release",
    from: ["Escrow", "Dispute"],
    to: "Released",
    event: "contract.released",
    cascades: true,
  },
  { action: "complete", from: ["Released"], to: "Completed", event: "contract.completed", cascades: true },
  { action: "deliver", from: ["Escrow"], to: "Escrow", event: "contract.delivered", earlierOnly: true },
  { action: "receive", from: ["Escrow"], to: "Escrow", event: "contract.received", earlierOnly: true },
];

const open: readonly ContractStatus[] = ["Escrow", "Dispute"];

export const milestoneSteps: readonly MilestoneStep[] = [
  {
    action: "pay",
    from: ["Pending"],
    within: ["Escrow"],
    to: "Escrow",
    event: "milestone.payment.completed",
  },
  { action: "dispute", from: ["Escrow"], within: open, to: "Disputed", event: "milestone.disputed" },
  {
    action: "release",
    from: ["Escrow", "Disputed"],
    within: open,
    to: "Released",
    event: "milestone.released",
  },
  {
    action: "complete",
    from: ["Released"],
    within: [...open, "Released", "Completed"],
    to: "Completed",
    event: "milestone.completed",
  },
];
