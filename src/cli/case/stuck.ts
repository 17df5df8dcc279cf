import type { MirroredRefund } from "../../queries/shapes.ts";

/** An initiated refund is stuck after this time. A bank takes hours, or a day. */
export const stuckAfterMs = 3 * 86_400_000;
/** A requested refund is stuck after this time. Its webhook comes within minutes, or after 73 minutes of retries. */
export const unansweredMs = 90 * 60_000;

/** `true` if a refund has waited for too long. */
export function isStuck(refund: MirroredRefund, now: number, afterMs = stuckAfterMs): boolean {
  const { state, initiatedAt, requestedAt } = refund;
  if (state === "succeeded") return false;
  const [since, limit] =
    state === "initiated" ? [initiatedAt, afterMs] : [requestedAt, Math.min(afterMs, unansweredMs)];
  return since !== null && now - Date.parse(since) >= limit;
}
