import type { Passage } from "../telemetry/recorder.ts";
import { monotonicMs } from "../shared/timers.ts";
import type { Step } from "./log.ts";

/** Where a request, or a batch, is in the flow, and when it entered each step: for the log of a failure, and for telemetry. */
export interface Way extends Passage {
  readonly step: Step;
  readonly enter: (step: Step) => void;
  /** Adds the steps that its batch went through. */
  join(batch: Way): void;
  subject: Passage["subject"];
}

export function startWay(first: Step): Way {
  const startedMs = monotonicMs();
  // Sorted by time: a step that is entered twice moves to the end. *verify* is: first for the headers, then for the body.
  const entered = new Map<Step, number>([[first, startedMs]]);
  let step = first;
  return {
    startedMs,
    entered,
    subject: undefined,
    get step() {
      return step;
    },
    enter: (next) => {
      step = next;
      entered.delete(next);
      entered.set(next, monotonicMs());
    },
    join: (batch) => {
      for (const [each, ms] of batch.entered) entered.set(each as Step, ms);
    },
  };
}
