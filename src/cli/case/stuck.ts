import type { MirroredRefund } from "../../queries/shapes.ts";

/** A bank takes hours or a day: after so long an initiated refund counts as stuck. */
export const stuckAfterMs = 3 * 86_400_000;
/** Its first webhook comes within minutes; the service retries it for 73. */
export const unansweredMs = 90 * 60_000;

/** Whether a refund has waited for too long. */
export function isStuck(refund: MirroredRefund, now: number, afterMs = stuckAfterMs): boolean {
  const { state, initiatedAt, requestedAt } = refund;
  if (state === "succeeded") return false;
  const [since, limit] =
    state === "initiated" ? [initiatedAt, afterMs] : [requestedAt, Math.min(afterMs, unansweredMs)];
  return since !== null && now - Date.parse(since) >= limit;
}
