import type { Clock } from "../../shared/clock.ts";

/** Something with work due at certain times: the delivery engine. */
export interface Timeline {
  /** When the next work is due, in the clock's milliseconds. */
  nextAtMs(): number | undefined;
  /** Starts what is due. */
  pump(): void;
  /** Resolves when nothing is due and nothing is running. */
  quiet(): Promise<void>;
}

/** The sandbox's time: flowing (at any speed) or standing until it is moved. */
export interface SandboxClock extends Clock {
  readonly kind: "real" | "manual";
  /** Sandbox milliseconds per real one; 0 on a manual clock. */
  readonly speed: number;
  /**
   * Moves the time on by `ms` and runs, in order, all that falls due on the way, network calls included.
   * Resolves when they have ended. On a flowing clock this is a leap forward.
   */
  advance(ms: number): Promise<void>;
  /** Real milliseconds until this clock shows `atMs`; undefined when it won't get there by itself. */
  waitMs(atMs: number): number | undefined;
  /** Runs `timeline` along with this clock until the returned function is called. */
  drive(timeline: Timeline): () => void;
}

/**
 * A clock that stands still until `advance(ms)`: an hour's retry is tested in a millisecond. The mirror under
 * test may share it.
 * @param startMs the first reading; 2026-01-25T10:00:00Z unless told
 */
export function manualClock(startMs: number = Date.UTC(2026, 0, 25, 10)): SandboxClock {
  if (!Number.isSafeInteger(startMs)) throw new RangeError(`startMs is ${startMs}: give whole milliseconds.`);
  return createClock("manual", 0, () => startMs);
}

/** The machine's time, running `speed` times as fast from `startMs` on. */
export function flowingClock(speed = 1, startMs: number = Date.now()): SandboxClock {
  const realStartMs = Date.now();
  return createClock("real", speed, () => Math.floor(startMs + (Date.now() - realStartMs) * speed));
}

function createClock(kind: "real" | "manual", speed: number, read: () => number): SandboxClock {
  const timelines = new Set<Timeline>();
  let leaptMs = 0;
  let moving: Promise<void> = Promise.resolve();
  const now = (): number => read() + leaptMs;
  const leapTo = (atMs: number): void => {
    leaptMs += Math.max(0, atMs - now());
  };
  const move = async (targetMs: number): Promise<void> => {
    for (;;) {
      await Promise.all(Array.from(timelines, (timeline) => timeline.quiet()));
      const nextMs = earliest(timelines);
      if (nextMs === undefined || nextMs > targetMs) break;
      leapTo(nextMs);
      for (const timeline of timelines) timeline.pump();
    }
    leapTo(targetMs);
  };
  return {
    kind,
    speed,
    now,
    advance(ms) {
      if (!Number.isFinite(ms) || ms < 0) {
        throw new RangeError(`Can't advance by ${ms} ms: time goes forward. Give 0 or more milliseconds.`);
      }
      // One move at a time: the next starts where this one ended.
      moving = moving.then(() => move(now() + Math.floor(ms)));
      return moving;
    },
    waitMs(atMs) {
      const leftMs = atMs - now();
      if (leftMs <= 0) return 0;
      return kind === "manual" ? undefined : Math.ceil(leftMs / speed);
    },
    drive(timeline) {
      timelines.add(timeline);
      return () => void timelines.delete(timeline);
    },
  };
}

function earliest(timelines: Iterable<Timeline>): number | undefined {
  let first: number | undefined;
  for (const timeline of timelines) {
    const nextMs = timeline.nextAtMs();
    if (nextMs !== undefined && (first === undefined || nextMs < first)) first = nextMs;
  }
  return first;
}

/**
 * Timestamps as the service prints them, with seven fractional digits (supplement). No two are equal and each is
 * later than the one before, so the order of events can be read from them.
 */
export function createStamper(clock: Clock): () => string {
  let lastMs = -1;
  let ticks = 0;
  return () => {
    const nowMs = clock.now();
    ticks = nowMs > lastMs ? 15 : ticks + 1;
    lastMs = Math.max(lastMs, nowMs) + (ticks > 9_999 ? 1 : 0);
    if (ticks > 9_999) ticks = 15;
    return `${new Date(lastMs).toISOString().slice(0, -1)}${String(ticks).padStart(4, "0")}Z`;
  };
}
