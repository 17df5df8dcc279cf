/** What a long piece of work costs its process: memory above the start, and the longest time that it held the loop. */
import { monitorEventLoopDelay } from "node:perf_hooks";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

export interface Measuring {
  /** Notes the memory after a collection. */
  look(): void;
  /** Ends the measuring. */
  end(): { readonly highest: number; readonly heldMs: number };
}

export function startMeasuring(): Measuring {
  let [highest, heldNs] = [0, 0];
  collect();
  const before = process.memoryUsage().heapUsed;
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  return {
    look: () => {
      heldNs = Math.max(heldNs, delay.max);
      // Without a reset the time until `enable` counts: what the measuring itself holds.
      delay.disable();
      collect();
      highest = Math.max(highest, process.memoryUsage().heapUsed - before);
      delay.reset();
      delay.enable();
    },
    end: () => {
      delay.disable();
      return { highest, heldMs: Math.max(heldNs, delay.max) / 1e6 };
    },
  };
}
