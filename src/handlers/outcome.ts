import { isEscrowMirrorError, nameOfError } from "../shared/errors.ts";
import type { Settlement } from "../store/queue.ts";
import type { JobRow } from "../store/tables/handlers.ts";
import { waitAfter, waitMsMax, type Backoff } from "./backoff.ts";
import type { RunResult } from "./run.ts";

export interface RetryPolicy {
  readonly maxAttempts: number;
  readonly backoffMs: Backoff;
}

const errorLengthMax = 1000;

/** How a run ends its job. */
export function toSettlement(job: JobRow, result: RunResult, policy: RetryPolicy): Settlement {
  const run = { seq: job.seq, workerId: job.workerId ?? "", attempts: job.attempts };
  switch (result.end) {
    case "done":
      return { ...run, end: "done" };
    case "stopped":
      return { ...run, end: "given-back" };
    case "failed": {
      const error = describe(result.error);
      const isOver = nameOf(result.error) === "PermanentError" || job.attempts >= policy.maxAttempts;
      if (isOver) return { ...run, end: "dead", error };
      return { ...run, end: "again", error, afterMs: waitFor(result.error, job.attempts, policy) };
    }
  }
}

/** A fault of the store is no fault of the handler's, and costs no attempt. */
export function isStoreFault(error: unknown): boolean {
  return isEscrowMirrorError(error, "store-unavailable", "closed");
}

function waitFor(error: unknown, attempt: number, { backoffMs }: RetryPolicy): number {
  const asked = (error as { afterMs?: unknown } | null)?.afterMs;
  if (nameOf(error) === "RetryAfterError" && typeof asked === "number" && asked >= 0)
    return Math.min(asked, waitMsMax);
  return waitAfter(attempt, backoffMs);
}

/**
 * The error that a handler threw, or another in its place where that throws when it is looked at: it would end the process.
 */
export function readable(error: unknown): unknown {
  try {
    describe(error);
    nameOfError(error);
    void (error as { afterMs?: unknown } | null)?.afterMs;
    return error;
  } catch {
    return new Error("the handler threw something that has no text");
  }
}

/** By its name, not its class: two copies of the package may be loaded. */
function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : "";
}

/** For `jobs.list()`. It stays in the integrator's database, so it may be the handler's own words. */
export function describe(error: unknown): string {
  const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  return text.slice(0, errorLengthMax);
}
