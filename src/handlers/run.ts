/** One run of one job: the handler is called, for no longer than its time, and what came of it is a value. */
import type { Logger } from "../shared/logger.ts";
import { clearTimeout, setTimeout } from "../shared/timers.ts";
import type { Handler, HandlerContext } from "./handler.ts";
import { readable } from "./outcome.ts";
import type { Assignment } from "./subject.ts";

export type RunResult =
  | { readonly end: "done" }
  | { readonly end: "failed"; readonly error: unknown }
  /** It was still running when the mirror closed or its lease was lost. */
  | { readonly end: "stopped" };

export interface RunLimits {
  readonly timeoutMs: number;
  /** Aborted when the run has to end for another's reason. */
  readonly stop: AbortSignal;
}

/** Never rejects. A handler that does not end when its signal is aborted is left alone: its job is another's by then. */
export async function runHandler(
  handler: Handler,
  assignment: Assignment,
  call: (context: HandlerContext) => unknown,
  { timeoutMs, stop }: RunLimits,
  logger: Logger,
): Promise<RunResult> {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(timedOut(handler.name, timeoutMs)), timeoutMs);
  const abort = (): void => controller.abort(stop.reason);
  stop.addEventListener("abort", abort);
  if (stop.aborted) abort();
  try {
    const { signal } = controller;
    const running = (async () => call(contextOf(assignment, signal, logger)))();
    const over = new Promise<never>((_, reject) => {
      signal.addEventListener("abort", () => {
        // Stopped, it may still end well until the deadline of whoever stopped it; out of time, it may not.
        if (!stop.aborted) reject(signal.reason as Error);
      });
    });
    await Promise.race([running, over]);
    return { end: "done" };
  } catch (error) {
    return stop.aborted ? { end: "stopped" } : { end: "failed", error: readable(error) };
  } finally {
    clearTimeout(timer);
    stop.removeEventListener("abort", abort);
  }
}

function contextOf({ job, contract }: Assignment, signal: AbortSignal, logger: Logger): HandlerContext {
  const { handler, jobKey, attempts } = job;
  return { idempotencyKey: `${handler}:${jobKey}`, attempt: attempts, signal, contract, logger };
}

function timedOut(name: string, timeoutMs: number): Error {
  return new DOMException(`handler ${name} did not end within ${timeoutMs} ms`, "TimeoutError");
}
