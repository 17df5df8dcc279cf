/** Reads whatever a handler has thrown. It may be anything, and may throw itself when it is read. */
import { isEscrowMirrorError, nameOfError } from "../shared/errors.ts";

const errorLengthMax = 1000;

/** A fault of the store is no fault of the handler's, and costs no attempt. */
export function isStoreFault(error: unknown): boolean {
  return isEscrowMirrorError(error, "store-unavailable", "closed");
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

/** For `jobs.list()`. It stays in the integrator's database, so it may be the handler's own words. */
export function describe(error: unknown): string {
  const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  return text.slice(0, errorLengthMax);
}
