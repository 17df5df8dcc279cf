import * as fc from "fast-check";
import { history } from "../../src/testing/arbitraries/history.ts";
import type { SentEvent } from "../../src/testing/story/history.ts";
import { signArrived, type ScheduledEvent } from "../../src/testing/story/schedule.ts";
import { secret, type Delivery } from "./processes.ts";

/** A delivery with the event that it brings. */
export interface SimulatedDelivery extends Delivery {
  readonly arrival: ScheduledEvent;
  readonly contractId: string;
}

/** The signed deliveries of `count` wild lives, each contract once, in the order of each story. */
export function simulatedDeliveries(count: number, seed: number): SimulatedDelivery[] {
  const told = fc.sample(history({ manner: "wild" }), { numRuns: count, seed });
  const lives = new Map(told.map((each) => [each.life.contractId, each]));
  return [...lives.values()].flatMap(({ sent }) => sent).map(signSent);
}

/** Signed as the service signs it, under an id of its own. */
export function signSent(sent: SentEvent): SimulatedDelivery {
  const arrival: ScheduledEvent = { kind: "event", sent, firstMs: 0 };
  const signed = signArrived({ arrival, webhookId: `wh-${sent.payloadId}` }, secret);
  return { arrival, contractId: sent.contractId, ...signed };
}
