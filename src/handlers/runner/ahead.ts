/** How far ahead to claim. Short, because a claimed job holds an older state of its contract, and no other process can run it. */
const aheadMs = 20;
/** A job never starts later than this after it was read: it goes back to the queue, and a redaction waits for so long. */
export const waitingMsMax = 200;
/** At most so many, because their bodies are in memory. */
const aheadMax = 56;

/**
 * How many jobs to claim beyond the free slots: as many as will start within `aheadMs`, if jobs go on ending as fast as now.
 * So quick jobs share a commit, and slow ones are claimed only when a slot is free.
 *
 * @param ended how many jobs ended in the last `sinceMs`
 */
export function aheadOf(ended: number, sinceMs: number): number {
  return ended === 0 ? 0 : Math.min(aheadMax, Math.floor((ended * aheadMs) / sinceMs));
}
