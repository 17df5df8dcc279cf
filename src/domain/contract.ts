import type { Machine } from "./machine.ts";

/**
 * The statuses of a contract, and the steps between them. The machine has no cycle. The service itself can go back, for
 * example from Dispute to Escrow when a dispute is settled. Such a step is not in the machine. The mirror still follows it,
 * because the event's `previousStatus` says so.
 */
export const contractMachine: Machine = {
  entity: "contract",
  terminal: ["Refunded", "PartiallyRefunded", "Cancelled", "Completed", "Rejected", "Expired", "Terminated"],
  transitions: [
    { from: null, event: "contract.created", to: "pending", source: "spec" },
    { from: null, event: null, to: "Draft", source: "inferred" },
    { from: "Draft", event: "contract.created", to: "pending", source: "inferred" },

    { from: "pending", event: null, to: "Accepted", source: "inferred" },
    { from: "pending", event: "contract.approved", to: "Approved", source: "inferred" },
    { from: "pending", event: "contract.rejected", to: "Rejected", source: "inferred" },
    { from: "pending", event: "contract.cancelled", to: "Cancelled", source: "inferred" },
    { from: "pending", event: null, to: "Expired", source: "inferred" },

    { from: "Accepted", event: "contract.approved", to: "Approved", source: "inferred" },
    { from: "Accepted", event: "contract.rejected", to: "Rejected", source: "inferred" },
    { from: "Accepted", event: "contract.cancelled", to: "Cancelled", source: "inferred" },
    { from: "Accepted", event: null, to: "Expired", source: "inferred" },

    { from: "Approved", event: null, to: "WaitingForBankPayment", source: "inferred" },
    { from: "Approved", event: "payment.completed", to: "Escrow", source: "inferred" },
    { from: "Approved", event: "contract.cancelled", to: "Cancelled", source: "inferred" },
    { from: "Approved", event: null, to: "Expired", source: "inferred" },

    { from: "WaitingForBankPayment", event: "payment.completed", to: "Escrow", source: "inferred" },
    { from: "WaitingForBankPayment", event: "contract.cancelled", to: "Cancelled", source: "inferred" },
    { from: "WaitingForBankPayment", event: null, to: "Expired", source: "inferred" },

    { from: "Escrow", event: "contract.disputed", to: "Dispute", source: "inferred" },
    { from: "Escrow", event: "contract.released", to: "Released", source: "inferred" },
    { from: "Escrow", event: "refund.full-initiated", to: "RefundInProgress", source: "spec" },
    { from: "Escrow", event: "milestone.refund.full-initiated", to: "RefundInProgress", source: "spec" },
    { from: "Escrow", event: "refund.partial-initiated", to: "RefundInProgress", source: "inferred" },
    { from: "Escrow", event: null, to: "Terminated", source: "inferred" },

    { from: "Dispute", event: "contract.released", to: "Released", source: "inferred" },
    { from: "Dispute", event: "refund.full-initiated", to: "RefundInProgress", source: "spec" },
    { from: "Dispute", event: "milestone.refund.full-initiated", to: "RefundInProgress", source: "spec" },
    { from: "Dispute", event: "refund.partial-initiated", to: "RefundInProgress", source: "inferred" },
    { from: "Dispute", event: null, to: "Terminated", source: "inferred" },

    { from: "Released", event: "contract.completed", to: "Completed", source: "inferred" },

    { from: "RefundInProgress", event: "refund.full-succeeded", to: "Refunded", source: "spec" },
    { from: "RefundInProgress", event: "contract.refunded", to: "Refunded", source: "spec" },
    { from: "RefundInProgress", event: "milestone.refund.full-succeeded", to: "Cancelled", source: "spec" },
    { from: "RefundInProgress", event: "refund.partial-succeeded", to: "Refunded", source: "inferred" },
    { from: "RefundInProgress", event: null, to: "PartiallyRefunded", source: "inferred" },
  ],
};
