import { ageOf, checkOptions } from "../queries/arguments.ts";

/** Options of `mirror.prune()`. Ages are in milliseconds. Without an age nothing of that kind is deleted. */
export interface PruneOptions {
  /**
   * Deletes bodies and headers that arrived longer ago than this. Those of a quarantined delivery stay until it is
   * dismissed or released. Those that an open job needs stay until it has run.
   */
  readonly payloads?: number | undefined;
  /** Deletes done and dead jobs that ended longer ago than this. Done jobs are deleted after seven days anyway. */
  readonly jobs?: number | undefined;
  /** Deletes the bodies and headers of dismissed deliveries that arrived longer ago than this. */
  readonly quarantine?: number | undefined;
  /** Called after each step, with the counts so far. */
  readonly onProgress?: ((progress: Pruned) => void) | undefined;
  /** Stops before the next step. Deleted rows stay deleted. */
  readonly signal?: AbortSignal | undefined;
}

/** The rows that `mirror.prune()` deleted. */
export interface Pruned {
  /** Deleted bodies, each with its headers. Those in dropped partitions are not counted. */
  readonly payloads: number;
  /** Postgres with `partition`: the names of the dropped partitions. Otherwise empty. */
  readonly partitions: readonly string[];
  /** Jobs. */
  readonly jobs: number;
  /** Bodies of dismissed deliveries. */
  readonly quarantine: number;
}

const names = ["payloads", "jobs", "quarantine", "onProgress", "signal"];

/** @throws EscrowMirrorError `invalid-argument` that names the option */
export function parsePruneOptions(options: PruneOptions): PruneOptions {
  checkOptions(options, names, "mirror.prune()");
  for (const name of ["payloads", "jobs", "quarantine"] as const) {
    const age = options[name];
    if (age !== undefined) ageOf(age, name);
  }
  return options;
}
