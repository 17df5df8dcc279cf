import * as fc from "fast-check";
import { testSecret, type Delivery } from "../delivery.ts";
import type { Schedule } from "../laws/assert-converges.ts";
import { timelineOf } from "../laws/timeline.ts";
import { toLife, type Life } from "../lives-from.ts";
import type { ContractLife } from "../story/life.ts";
import { signArrived, type Arrived, type StorySchedule } from "../story/schedule.ts";
import { tellStory, toTimeline } from "../story/timeline.ts";
import { contractLife, type LifeConstraints } from "./contract-life.ts";
import { history, type HistoryConstraints } from "./history.ts";
import { hostile, type HostileRequest } from "./hostile.ts";
import { schedule, type ScheduleConstraints } from "./schedule.ts";

/** How generated deliveries are signed. */
export interface Signing {
  /** Default: `testSecret`. */
  readonly secret?: string | undefined;
}

/** Generators for fast-check. fast-check shrinks a failing case to a short story, and prints it as a timeline. */
export const arbitraries = {
  /** Random lives of one contract. They include the steps back that the service can take. */
  contractLife: (constraints: LifeConstraints = {}): fc.Arbitrary<ContractLife> =>
    contractLife(constraints).map((life) => printing(life, () => tellStory(life))),

  /** A life with its deliveries, each once and in order, and its correct final state. */
  history: ({ secret = testSecret, ...constraints }: HistoryConstraints & Signing = {}): fc.Arbitrary<Life> =>
    history(constraints).map((told) => {
      const life = toLife(told, secret);
      return printing(life, () => `\n${timelineOf(life.deliveries.map((each) => [each]))}\n`);
    }),

  /**
   * Deliveries as they arrive: out of order, more than once, with new ids. With `manner: "skewed"` the service's
   * clocks differ, so some times are wrong. `"wild"`: also with losses, equal times and odd values.
   */
  schedule: ({
    secret = testSecret,
    ...constraints
  }: ScheduleConstraints & Signing = {}): fc.Arbitrary<Schedule> =>
    schedule({ ...constraints, snapshots: false }).map((made) => {
      const deliveries = made.batches.flat().flatMap((arrived) => toDelivery(arrived, secret));
      const lives = isWhole(made, constraints)
        ? made.histories.map((each) => toLife(each, secret))
        : undefined;
      return printing(Object.assign(deliveries, { lives }), () => toTimeline(made));
    }),

  /** Malformed requests: random bytes, JSON of any shape, changed bodies, odd headers. About half have a valid signature. */
  hostile: ({ secret = testSecret }: Signing = {}): fc.Arbitrary<HostileRequest> => hostile(secret),
};

/** Whether the mirror must end as the truth. Where clocks differ, a way back and a stale event look alike. */
function isWhole(
  { histories }: StorySchedule,
  { manner = "complete", losses }: ScheduleConstraints,
): boolean {
  const goesOnlyForward = histories.every(({ life }) => life.events.every(({ forward }) => forward));
  return losses !== true && (manner === "complete" || (manner === "skewed" && goesOnlyForward));
}

function toDelivery({ arrival, ...rest }: Arrived, secret: string): Delivery[] {
  return arrival.kind === "event" ? [signArrived({ arrival, ...rest }, secret)] : [];
}

/** fast-check shows a counterexample by this. */
function printing<Value extends object>(value: Value, tell: () => string): Value {
  return Object.defineProperty(value, fc.toStringMethod, { value: tell });
}
