/** Reads what a handler has thrown. It may be any value, and reading it may throw again. */
import { isEscrowMirrorError, nameOfError } from "../shared/errors.ts";

const errorLengthMax = 1000;

/** Whether the store failed, not the handler. */
export function isStoreFault(error: unknown): boolean {
  return isEscrowMirrorError(error, "store-unavailable", "closed");
}

/**
 * The error that a handler threw. If reading it throws, another error in its place: it would end the process later.
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

/** The text for `jobs.list()`. It may quote the handler's error, because it stays in the app's own database. */
export function describe(error: unknown): string {
  const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  return text.slice(0, errorLengthMax);
}
