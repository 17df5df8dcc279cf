import type { DeliveryRecord } from "../world/records.ts";
import type { DeliveryDraft, Ground } from "../world/world.ts";

/** How long the `reorder` fault keeps a delivery back for the contract's next one to overtake it. */
const holdMs = 5_000;
/** How much later than the original a copy is sent, at most. */
const copyLagMs = 1_000;

export function toRecord(draft: DeliveryDraft): DeliveryRecord {
  return {
    webhookId: draft.webhookId,
    business: draft.business,
    event: draft.event,
    contractId: draft.contractId,
    internalContractId: draft.internalContractId,
    milestoneId: draft.milestoneId,
    createdAt: draft.createdAt,
    body: draft.body,
    state: "pending",
    reason: null,
    tries: 0,
    nextAttemptAtMs: null,
    attempts: [],
  };
}

/** Why nothing is sent to a client now; undefined when it is. */
export function whyNotSent({ state }: Ground, business: string): string | undefined {
  const subscription = state.subscriptions.get(business);
  if (subscription === undefined) return "There is no webhook subscription.";
  return subscription.isActive ? undefined : "The webhook subscription is disabled.";
}

/** When a new delivery is first sent. */
export interface Plan {
  dueMs: number;
  /** Waits for the contract's next one to overtake it, until `dueMs` at the latest. */
  held: boolean;
  /** When a copy follows; null for none. */
  copyAtMs: number | null;
}

/** Draws from the faults. Undefined: it is never sent. */
export function planFirst({ clock, faults, random }: Ground, delivery: DeliveryRecord): Plan | undefined {
  const fault = faults.forDelivery();
  if (fault.drop) {
    faults.count("drop");
    return undefined;
  }
  if (fault.delayMs > 0) faults.count("delay");
  const dueMs = clock.now() + fault.delayMs;
  const held = fault.reorder && delivery.contractId !== null;
  const copyAtMs = fault.duplicate ? dueMs + Math.floor(random.next() * copyLagMs) : null;
  return { dueMs: held ? dueMs + holdMs : dueMs, held, copyAtMs };
}
