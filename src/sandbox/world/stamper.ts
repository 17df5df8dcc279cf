import type { Clock } from "../../shared/clock.ts";

/**
 * Timestamps as the service prints them, with seven fractional digits (supplement). No two are equal and each is
 * later than the one before, so the order of events can be read from them.
 */
export function createStamper(clock: Clock): () => string {
  let lastMs = -1;
  let ticks = 0;
  return () => {
    const nowMs = clock.now();
    ticks = nowMs > lastMs ? 15 : ticks + 1;
    lastMs = Math.max(lastMs, nowMs) + (ticks > 9_999 ? 1 : 0);
    if (ticks > 9_999) ticks = 15;
    return `${new Date(lastMs).toISOString().slice(0, -1)}${String(ticks).padStart(4, "0")}Z`;
  };
}
