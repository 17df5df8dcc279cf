import { clearTimeout, setTimeout } from "../../shared/timers.ts";

/** `true` after that time; `false` as soon as `signal` aborts. */
export function wait(ms: number, signal: AbortSignal | undefined): Promise<boolean> {
  return new Promise((resolve) => {
    if (signal?.aborted === true) return resolve(false);
    const end = (whole: boolean) => (): void => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", abort);
      resolve(whole);
    };
    const abort = end(false);
    const timer = setTimeout(end(true), ms);
    signal?.addEventListener("abort", abort, { once: true });
  });
}
