import { settle } from "../../shared/result.ts";
import { clearTimeout, setTimeout } from "../../shared/timers.ts";

export interface Repeat {
  /** Counts the wait anew: it may be shorter now. */
  restart(): void;
  stop(): void;
}

/** Does work again and again, each time so long after the last was over. Where it fails, the next time is another try. */
export function repeat(work: () => Promise<void>, everyMs: () => number): Repeat {
  let timer: NodeJS.Timeout | undefined;
  let isWorking = false;
  let isOver = false;

  function restart(): void {
    clearTimeout(timer);
    if (isOver || isWorking) return;
    timer = setTimeout(() => void once(), everyMs()).unref();
  }

  async function once(): Promise<void> {
    isWorking = true;
    await settle(work);
    isWorking = false;
    restart();
  }

  restart();
  return {
    restart,
    stop: () => {
      isOver = true;
      clearTimeout(timer);
    },
  };
}
