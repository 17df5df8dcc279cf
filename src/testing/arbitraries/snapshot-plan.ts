import * as fc from "fast-check";
import type { SnapshotPlan } from "../story/snapshot-plan.ts";
import { ticksPerMinute } from "../story/ticks.ts";

/** Reads of the API at any place of a story, late, early, partial, with ids of their own. */
export function snapshotPlan(): fc.Arbitrary<SnapshotPlan> {
  return fc.record({
    after: fc.nat({ max: 20 }),
    delayTicks: fc.oneof(fc.constant(0), fc.integer({ min: -2 * ticksPerMinute, max: 5 * ticksPerMinute })),
    time: fc.constantFrom("stamped", "stamped", "stamped", "none"),
    updated: fc.constantFrom("last", "missing", "long-ago"),
    descriptive: fc.constantFrom("full", "missing", "null"),
    milestones: fc.constantFrom("same-ids", "own-ids", "missing"),
  });
}
