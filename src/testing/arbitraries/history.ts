import * as fc from "fast-check";
import { tellLife, type History } from "../story/history.ts";
import { ticksPerMinute, ticksPerSecond } from "../story/ticks.ts";
import { contractLife, type LifeConstraints } from "./contract-life.ts";
import { completeDressing, wildDressing } from "./dressing.ts";

/** Limits on generated lives and their events. */
export interface HistoryConstraints extends LifeConstraints {
  /**
   * `complete` (default): the events' times are different and in the right order, and no needed field is missing. So the
   * events determine the final state. `skewed`: the same, but each time is wrong by up to half a minute. `wild`: equal
   * times, times that are wrong by up to ten minutes, missing fields, odd values.
   */
  readonly manner?: "complete" | "skewed" | "wild";
}

/** Histories: lives with the events that the service would send for them. They shrink to plain events, a minute apart. */
export function history(constraints: HistoryConstraints = {}): fc.Arbitrary<History> {
  const { manner = "complete" } = constraints;
  const complete = manner !== "wild";
  const dressings = fc.array(complete ? completeDressing() : wildDressing(), { maxLength: 16, size: "max" });
  const gaps = fc.array(complete ? gapTicks() : fc.oneof(fc.constant(0), gapTicks()), listOf16);
  const shifts = manner === "complete" ? fc.constant([]) : fc.array(shiftTicks[manner](), listOf16);
  return fc
    .tuple(contractLife(constraints), dressings, gaps, shifts)
    .map(([life, ...style]) => ({ life, sent: tellLife(life, ...style, complete) }));
}

const listOf16 = { maxLength: 16, size: "max" } as const;

/** How long after the last event the next one comes. */
function gapTicks(): fc.Arbitrary<number> {
  return fc.oneof(
    fc.constant(ticksPerMinute),
    fc.integer({ min: 1, max: 20 }),
    fc.integer({ min: 1, max: 3 * ticksPerMinute }),
    fc.integer({ min: 59, max: 61 }).map((seconds) => seconds * ticksPerSecond),
    fc.integer({ min: 1, max: 20 }).map((days) => days * 1440 * ticksPerMinute),
  );
}

/** How far the clock of the node that sent it is off: within the mirror's `skewMs` of a minute, at it, and beyond. */
const shiftTicks = {
  skewed: () => fc.integer({ min: -ticksPerMinute / 2, max: ticksPerMinute / 2 }),
  wild: () =>
    fc.oneof(
      { weight: 3, arbitrary: fc.constant(0) },
      { weight: 1, arbitrary: fc.integer({ min: -ticksPerMinute, max: ticksPerMinute }) },
      { weight: 1, arbitrary: fc.integer({ min: -10, max: 10 }).map((minutes) => minutes * ticksPerMinute) },
    ),
};
