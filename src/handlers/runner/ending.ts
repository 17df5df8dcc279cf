import type { Ending, Run } from "../../store/queue.ts";
import type { JobRow } from "../../store/tables/handlers.ts";
import { waitAfter, waitMsMax, type Backoff } from "./backoff.ts";
import { describe } from "../thrown.ts";
import type { RunResult } from "./run.ts";

export interface RetryPolicy {
  readonly maxAttempts: number;
  readonly backoffMs: Backoff;
}

/** Turns the result of a run into the end of its job in the queue. */
export function toEnding(job: JobRow, result: RunResult, policy: RetryPolicy): Ending {
  switch (result.is) {
    case "done":
      return { ...runOf(job), end: "done" };
    case "stopped":
      return givenBack(job);
    case "failed": {
      const error = describe(result.error);
      const isOver = nameOf(result.error) === "PermanentError" || job.attempts >= policy.maxAttempts;
      if (isOver) return { ...runOf(job), end: "dead", error };
      return { ...runOf(job), end: "again", error, afterMs: waitFor(result.error, job.attempts, policy) };
    }
  }
}

/** For a job that did not run, or not to its end: the attempt does not count. */
export function givenBack(job: JobRow): Ending {
  return { ...runOf(job), end: "given-back" };
}

export function runOf({ seq, claims }: JobRow): Run {
  return { seq, claims };
}

function waitFor(error: unknown, attempt: number, { backoffMs }: RetryPolicy): number {
  const asked = (error as { afterMs?: unknown } | null)?.afterMs;
  if (nameOf(error) === "RetryAfterError" && typeof asked === "number" && asked >= 0)
    return Math.min(asked, waitMsMax);
  return waitAfter(attempt, backoffMs);
}

/** Errors are recognised by name, not by class: two copies of the package may be loaded. */
function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : "";
}
