import { monotonicMs } from "../shared/timers.ts";

/** How many rows a step takes: as many as it can in a few milliseconds. A row may hold a megabyte or nothing. */
export interface Stride {
  rows(): number;
  /** Runs a step, and sets the number of rows of the next one by the time that it took. */
  measure<T>(step: () => Promise<T>): Promise<T>;
}

/** Deliveries wait while a step runs. */
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
