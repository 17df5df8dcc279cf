import { settle } from "../../shared/result.ts";
import { clearTimeout, setTimeout } from "../../shared/timers.ts";

export interface Repeat {
  /** Starts the wait again, because it may be shorter now. */
  restart(): void;
  stop(): void;
}

/** Runs `work` again and again, each time `everyMs()` after the last run ended. A failure is ignored. */
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
