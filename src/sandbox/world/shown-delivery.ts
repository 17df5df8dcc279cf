import type { AttemptRecord, DeliveryRecord, DeliveryState } from "./records.ts";

/** One webhook and every attempt to deliver it. */
export interface SandboxDelivery {
  /** The same at every attempt, and after a resend. */
  webhookId: string;
  /** The event type, such as `contract.created`. */
  event: string;
  /** Null for `webhook.test`. */
  contractId: string | null;
  /** Null where the event concerns no milestone. */
  milestoneId: string | null;
  /**
   * `pending` waits for an attempt. `delivered` was answered with a 2xx. `failed` will not be retried. `dropped`: by
   * the fault. `skipped`: there was no active subscription.
   */
  state: DeliveryState;
  /** Why it is `failed`, `dropped` or `skipped`; else null. */
  reason: string | null;
  /** ISO 8601 UTC. */
  createdAt: string;
  /** When the next attempt is due, in ISO 8601 UTC; null when none is. */
  nextAttemptAt: string | null;
  /** Exactly what is signed and sent. */
  body: string;
  /** Oldest first. */
  attempts: SandboxAttempt[];
}

/** One attempt to deliver a webhook. */
export type SandboxAttempt = Readonly<AttemptRecord>;

export function toSandboxDelivery(delivery: DeliveryRecord): SandboxDelivery {
  const { webhookId, event, contractId, milestoneId, state, reason, createdAt, body, nextAttemptAtMs } =
    delivery;
  return {
    webhookId,
    event,
    contractId,
    milestoneId: milestoneId === null ? null : String(milestoneId),
    state,
    reason,
    createdAt,
    nextAttemptAt:
      nextAttemptAtMs === null || state !== "pending" ? null : new Date(nextAttemptAtMs).toISOString(),
    body,
    attempts: [...delivery.attempts],
  };
}
