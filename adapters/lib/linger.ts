import { clearTimeout, setTimeout } from "./timers.ts";

/** If nothing arrives for so long, the sender is waiting for its answer. */
const idleMs = 500;
/** The longest that a sender can hold the connection by sending more. */
const totalMs = 3000;

export interface Linger {
  /** Resolves when it is time to stop. */
  readonly over: Promise<void>;
  /** Call it when more has arrived. */
  readonly more: () => void;
  readonly end: () => void;
}

/**
 * How long to discard the rest of a refused body. If a connection is closed while bytes are unread, it is reset, and the
 * sender sees the reset instead of the answer.
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
