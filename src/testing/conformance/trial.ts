import type { Probe } from "./probe.ts";

/** One thing that a receiver must do. */
export interface Trial {
  readonly name: string;
  readonly expected: string;
  /** The fix if it fails. */
  readonly advice: string;
  /** The further means that it needs, beside the answers. */
  readonly needs?: "observe" | "restart";
  run(probe: Probe): Promise<Found>;
}

/** `undefined`: what the check is about can't be seen in what `observe` gives. */
export type Found = { readonly ok: boolean; readonly got: string } | undefined;
