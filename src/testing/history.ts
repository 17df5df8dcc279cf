import { hash } from "node:crypto";
import * as fc from "fast-check";
import { contractLife, type LifeConstraints } from "./contract-life.ts";
import { completeDressing, plainDressing, wildDressing, type Dressing } from "./dressing.ts";
import type { ContractLife, LifeEvent } from "./life.ts";
import { atTick, ticksPerMinute, ticksPerSecond } from "./ticks.ts";
import { writeBody } from "./wire-event.ts";

/** A life as the service tells it: its events as the bodies that are sent. */
export interface History {
  readonly life: ContractLife;
  readonly sent: readonly SentEvent[];
}

export interface SentEvent {
  readonly contractId: string;
  readonly event: LifeEvent;
  readonly payloadId: string;
  /** The instant that the body names, in ticks and as UTC text with seven digits. */
  readonly ticks: number;
  readonly occurredAt: string;
  readonly dressing: Dressing;
  readonly body: string;
  /** SHA-256 of the body, hex. */
  readonly digest: string;
}

export interface HistoryConstraints extends LifeConstraints {
  /**
   * `complete` (default): the times tell every two events apart and follow the story, and nothing that matters is left out,
   * so that whoever gets all of it knows the truth. `skewed`: the same by clocks that are up to half a minute off, so that
   * the times contradict the story. `wild`: equal times, clocks off by any amount, missing fields, odd values.
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
    .map(([life, ...style]) => ({ life, sent: send(life, ...style, complete) }));
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

function send(
  life: ContractLife,
  dressings: readonly Dressing[],
  gaps: readonly number[],
  shifts: readonly number[],
  complete: boolean,
): SentEvent[] {
  let clock = 0;
  return life.events.map((event, index) => {
    clock += gaps[index] ?? ticksPerMinute;
    const ticks = clock + (shifts[index] ?? 0);
    const chosen = dressings[index] ?? plainDressing;
    const dressing = complete && !event.forward ? { ...chosen, previousStatus: "sent" as const } : chosen;
    return sendOne(life, event, index, ticks, dressing);
  });
}

function sendOne(
  life: ContractLife,
  event: LifeEvent,
  index: number,
  ticks: number,
  dressing: Dressing,
): SentEvent {
  const occurredAt = atTick(ticks);
  const payloadId = payloadIdOf(life, index);
  const createdAt = atTick(ticks + ticksPerSecond);
  const body = writeBody({ life, event, payloadId, occurredAt, createdAt, dressing });
  const { contractId } = life;
  return {
    contractId,
    event,
    payloadId,
    ticks,
    occurredAt,
    dressing,
    body,
    digest: hash("sha256", body, "hex"),
  };
}

/** A GUID of the contract and the place in its story, the place scattered so that it does not sort like the story. */
function payloadIdOf({ contractId }: ContractLife, index: number): string {
  const scattered = ((index + 1) * 2_654_435_761) % 0xffffffff;
  return `${scattered.toString(16).padStart(8, "0")}-0000-4000-8000-0000${contractId.slice(-8)}`;
}
