import { hash } from "node:crypto";
import { plainDressing, type Dressing } from "./dressing.ts";
import type { ContractLife, LifeEvent } from "./life.ts";
import { atTick, ticksPerMinute, ticksPerSecond } from "./ticks.ts";
import { writeBody } from "./wire-event.ts";

/** A life, with its events as the bodies that the service sends. */
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

/** One body for each event of a life. The lists give each its form and its time. Without an entry it is plain, a minute after the last. */
export function tellLife(
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

/** A GUID from the contract and the place in its story. The GUIDs don't sort like the story. */
function payloadIdOf({ contractId }: ContractLife, index: number): string {
  const scattered = ((index + 1) * 2_654_435_761) % 0xffffffff;
  return `${scattered.toString(16).padStart(8, "0")}-0000-4000-8000-0000${contractId.slice(-8)}`;
}
