import * as fc from "fast-check";
import { history } from "../../src/testing/history.ts";
import { signArrived, type ScheduledEvent } from "../../src/testing/schedule.ts";
import { secret, type Delivery } from "./processes.ts";

/** A delivery with the event that it brings. */
export interface SimulatedDelivery extends Delivery {
  readonly arrival: ScheduledEvent;
}

/** The signed deliveries of `count` wild lives, each contract once, in the order of each story. */
export function simulatedDeliveries(count: number, seed: number): SimulatedDelivery[] {
  const told = fc.sample(history({ manner: "wild" }), { numRuns: count, seed });
  const lives = new Map(told.map((each) => [each.life.contractId, each]));
  return [...lives.values()]
    .flatMap(({ sent }) => sent)
    .map((sent) => {
      const arrival: ScheduledEvent = { kind: "event", sent };
      return { arrival, ...signArrived({ arrival, webhookId: `wh-${sent.payloadId}` }, secret) };
    });
}
