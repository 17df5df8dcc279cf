import type { Command } from "commander";
import { readCount } from "./values.ts";

/** The options that say how fast contracts are read from the service. */
export interface PaceFlags {
  readonly concurrency?: number;
  readonly perSecond?: number;
}

/** Adds the options of `PaceFlags`. */
export function withPace(command: Command): Command {
  return command
    .option("--concurrency <count>", "contracts read at once, at most 64 (default: 4)", readCount)
    .option("--per-second <count>", "contracts read in a second (default: 50)", readCount);
}
