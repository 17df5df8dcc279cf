import { clearTimeout, setTimeout } from "./timers.ts";

/** Nothing has come for so long: the sender waits for its answer. */
const idleMs = 500;
/** However much still comes, nobody holds a connection for longer by it. */
const totalMs = 3000;

export interface Linger {
  /** Kept when it is time to stop. */
  readonly over: Promise<void>;
  /** More has come. */
  readonly more: () => void;
  readonly end: () => void;
}

/**
 * For how long to throw away what still comes of a body that is refused. A connection that is closed on unread bytes is
 * reset, and the sender would see that instead of the answer.
 */
export function createLinger(): Linger {
  const stopped = new AbortController();
  const stop = (): void => stopped.abort();
  const over = new Promise<void>((resolve) => stopped.signal.addEventListener("abort", () => resolve()));
  const idle = setTimeout(stop, idleMs);
  const total = setTimeout(stop, totalMs);
  return {
    over,
    more: () => void idle.refresh(),
    end: () => {
      clearTimeout(idle);
      clearTimeout(total);
      stop();
    },
  };
}
