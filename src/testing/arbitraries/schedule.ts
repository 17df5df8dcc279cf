import * as fc from "fast-check";
import { toSchedule, type Arrangement, type StorySchedule } from "../story/schedule.ts";
import { toTimeline } from "../story/timeline.ts";
import { history, type HistoryConstraints } from "./history.ts";
import { snapshotPlan } from "./snapshot-plan.ts";

/** Limits on generated deliveries. */
export interface ScheduleConstraints extends HistoryConstraints {
  /** The largest number of contracts. Default 1. */
  readonly contractsMax?: number;
  /** Whether some deliveries never arrive. Default: only with `manner: "wild"`. */
  readonly losses?: boolean;
  /** Whether API reads come in between. Default `false`. */
  readonly snapshots?: boolean;
}

/**
 * Schedules: histories as deliveries that come out of order, more than once, under fresh ids, in batches of any size,
 * with losses and API reads between. They print as a timeline and shrink towards everything once, in order, one by one.
 */
export function schedule(constraints: ScheduleConstraints = {}): fc.Arbitrary<StorySchedule> {
  const { contractsMax = 1, manner = "complete" } = constraints;
  const { losses = manner === "wild", snapshots = manner === "wild" } = constraints;
  const told = fc.uniqueArray(history(constraints), {
    minLength: 1,
    maxLength: contractsMax,
    selector: ({ life }) => life.contractId,
  });
  const lost = losses ? fc.array(fc.boolean(), { maxLength: 12 }) : fc.constant([]);
  const reads = snapshots ? fc.array(snapshotPlan(), { maxLength: 3 }) : fc.constant([]);
  return fc
    .tuple(told, lost, reads, arrangement())
    .map(([histories, ...rest]) => printable(toSchedule(histories, ...rest)));
}

/** Another way for the same things to arrive. */
export function arrangement(): fc.Arbitrary<Arrangement> {
  return fc.record({
    order: fc.array(fc.nat({ max: 99 }), { maxLength: 40, size: "max" }),
    repeats: fc.array(fc.record({ of: fc.nat({ max: 40 }), freshId: fc.boolean() }), { maxLength: 6 }),
    firstCopies: fc.array(fc.nat({ max: 3 }), { maxLength: 40 }),
    batchSizes: fc.array(fc.integer({ min: 1, max: 9 }), { maxLength: 12 }),
  });
}

/** fast-check shows a counterexample by this. */
function printable(made: StorySchedule): StorySchedule {
  return Object.assign(made, { [fc.toStringMethod]: () => toTimeline(made) });
}
