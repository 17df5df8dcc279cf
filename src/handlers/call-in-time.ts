import { clearTimeout, setTimeout } from "../shared/timers.ts";

export interface CallLimits {
  /** The handler's name, for the message. */
  readonly handler: string;
  readonly timeoutMs: number;
  /** Aborted when the handler must stop for another reason. Within its time it may still succeed. */
  readonly stop?: AbortSignal;
}

/**
 * Calls a handler with a signal, and waits for it until its time is over. Rejects with what it threw, or with a
 * `TimeoutError`. The handler may go on after that: nobody waits for it.
 */
export async function callInTime(
  { handler, timeoutMs, stop }: CallLimits,
  call: (signal: AbortSignal) => unknown,
): Promise<void> {
  const controller = new AbortController();
  const tellToStop = (): void => controller.abort(stop?.reason);
  stop?.addEventListener("abort", tellToStop);
  if (stop?.aborted === true) tellToStop();
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      const error = timedOut(handler, timeoutMs);
      controller.abort(error);
      reject(error);
    }, timeoutMs);
  });
  try {
    await Promise.race([(async () => call(controller.signal))(), late]);
  } finally {
    clearTimeout(timer);
    stop?.removeEventListener("abort", tellToStop);
  }
}

export function isTimeout(error: unknown): boolean {
  return error instanceof Error && error.name === "TimeoutError";
}

function timedOut(handler: string, timeoutMs: number): Error {
  return new DOMException(`handler ${handler} did not end within ${timeoutMs} ms`, "TimeoutError");
}
