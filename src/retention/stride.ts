import { monotonicMs } from "../shared/timers.ts";

/** How many rows a step takes: as many as go in a few milliseconds, for a row may hold a megabyte or nothing. */
export interface Stride {
  rows(): number;
  /** Runs a step, and fits the next one to how long it took. */
  measure<T>(step: () => Promise<T>): Promise<T>;
}

/** Others wait for a step to end. */
const stepMs = 15;
const rowsMax = 500;

export function createStride(): Stride {
  let rows = 16;
  return {
    rows: () => rows,
    measure: async (step) => {
      const since = monotonicMs();
      const result = await step();
      const fitting = (rows * stepMs) / Math.max(monotonicMs() - since, 0.1);
      rows = Math.max(1, Math.min(Math.floor(fitting), rows * 2, rowsMax));
      return result;
    },
  };
}
