/** Bounds on waiting. */
import { settle } from "./result.ts";
import { clearTimeout, monotonicMs, setTimeout, sleep } from "./timers.ts";

/** Milliseconds that are left until a deadline; 0 from then on. */
export type TimeLeft = () => number;

export interface Countdown {
  readonly timeLeft: TimeLeft;
  /** Stops the clock until the returned function is called. */
  readonly pause: () => () => void;
}

export function countdownFrom(ms: number): Countdown {
  let end = monotonicMs() + ms;
  let pausedAt: number | undefined;
  return {
    timeLeft: () => Math.max(0, Math.ceil(end - (pausedAt ?? monotonicMs()))),
    pause: () => {
      const began = (pausedAt = monotonicMs());
      return () => {
        if (pausedAt !== began) return;
        end += monotonicMs() - began;
        pausedAt = undefined;
      };
    },
  };
}

/** Waits for `work` no longer than `ms`, then rejects with `tooLate()`. What still comes goes to `late`. */
export async function within<T>(
  ms: number,
  work: Promise<T>,
  tooLate: () => Error,
  late: (value: T) => void = ignore,
): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const deadline = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      work.then(late, ignore);
      reject(tooLate());
    }, ms);
  });
  try {
    return await Promise.race([work, deadline]);
  } finally {
    clearTimeout(timer);
  }
}

/** Resolves with the work, or at the deadline. Its timer ends with the work: one that goes on would keep a closed process alive. */
export async function noLongerThan(ms: number, work: Promise<unknown>): Promise<void> {
  const done = new AbortController();
  const deadline = settle(() => sleep(ms, undefined, { signal: done.signal }));
  await Promise.race([work, deadline]);
  done.abort();
}

function ignore(): void {}
