/** So far ahead jobs are claimed: in the time that a job waits here, its contract changes, and another process could run it. */
const aheadMs = 20;
/** None starts later after it was read. A job behind slow ones is for whoever has a free slot, and a redaction waits so long. */
export const waitingMsMax = 200;
/** Their bodies are in memory. */
const aheadMax = 56;

/**
 * How many jobs to claim beyond the free slots: those that will start within some milliseconds, at the pace of the last ones.
 * So quick jobs share a commit, and slow ones are claimed when there is a slot for them.
 *
 * @param ended jobs that ended in the last `sinceMs`
 */
export function aheadOf(ended: number, sinceMs: number): number {
  return ended === 0 ? 0 : Math.min(aheadMax, Math.floor((ended * aheadMs) / sinceMs));
}
