import { rmSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Microseconds that one of `count` took. */
export async function microsecondsEach(count: number, work: () => unknown): Promise<number> {
  const start = performance.now();
  await work();
  return ((performance.now() - start) * 1000) / count;
}

/** The middle one: a shared machine's disturbances fall to the sides. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

/** A folder that is gone when `work` is done. */
export async function withFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), "escrow-mirror-bench-"));
  try {
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** One figure with what it is held against. */
export interface Figure {
  readonly what: string;
  readonly measured: string;
  readonly against: string;
  /** How many times the other it is. */
  readonly ratio: number;
  readonly target: string;
  readonly met: boolean;
}

export function atMost(limit: number, figure: Omit<Figure, "target" | "met">): Figure {
  return { ...figure, target: `at most ${limit}×`, met: figure.ratio <= limit };
}

export function atLeast(limit: number, figure: Omit<Figure, "target" | "met">): Figure {
  return { ...figure, target: `at least ${limit}×`, met: figure.ratio >= limit };
}

/** The floor beside a figure: it has no mark to reach. */
export function shown(figure: Omit<Figure, "target" | "met">): Figure {
  return { ...figure, target: "shown", met: true };
}

export function microseconds(value: number): string {
  return `${value.toFixed(value < 100 ? 2 : 0)} µs`;
}

export function perSecond(each: number): string {
  return `${Math.round(1e6 / each).toLocaleString("en")}/s`;
}
