import type { Machine } from "./machine.ts";

/**
 * The statuses of a milestone, and the steps between them. The first webhook of a milestone is its payment (Escrow).
 * The API may show it before that, as pending.
 */
export const milestoneMachine: Machine = {
  entity: "milestone",
  terminal: ["Completed", "Refunded"],
  transitions: [
    { from: null, event: null, to: "pending", source: "inferred" },
    { from: null, event: "milestone.payment.completed", to: "Escrow", source: "inferred" },
    { from: "pending", event: "milestone.payment.completed", to: "Escrow", source: "inferred" },

    { from: "Escrow", event: "milestone.disputed", to: "Disputed", source: "inferred" },
    { from: "Escrow", event: "milestone.released", to: "Released", source: "inferred" },
    { from: "Escrow", event: "milestone.refund.full-initiated", to: "RefundInProgress", source: "spec" },
    { from: "Escrow", event: "refund.full-initiated", to: "RefundInProgress", source: "inferred" },
    { from: "Escrow", event: "refund.partial-initiated", to: "RefundInProgress", source: "inferred" },

    { from: "Disputed", event: "milestone.released", to: "Released", source: "inferred" },

    { from: "Released", event: "milestone.completed", to: "Completed", source: "inferred" },

    { from: "RefundInProgress", event: "milestone.refund.full-succeeded", to: "Refunded", source: "spec" },
    { from: "RefundInProgress", event: "refund.full-succeeded", to: "Refunded", source: "inferred" },
    { from: "RefundInProgress", event: "refund.partial-succeeded", to: "Refunded", source: "inferred" },
  ],
};
