import type { Clock } from "../../shared/clock.ts";

/** Work that is due at certain times: the webhooks. */
export interface Timeline {
  /** When the next work is due, in the clock's milliseconds. */
  nextAtMs(): number | undefined;
  /** Starts what is due. */
  pump(): void;
  /** Resolves when nothing is due and nothing is running. */
  quiet(): Promise<void>;
}

/** The sandbox's time. It flows, at any speed, or it stands still until it is moved. */
export interface SandboxClock extends Clock {
  /** The time in milliseconds since 1970-01-01T00:00:00Z. */
  now(): number;
  /** `real` flows by itself. `manual` stands still until `advance`. */
  readonly kind: "real" | "manual";
  /** Sandbox milliseconds per real millisecond; 0 on a manual clock. */
  readonly speed: number;
  /**
   * Moves the time on by `ms`. All work that becomes due runs in order, network calls too. Resolves when it has ended. A
   * real clock jumps forward. Rejects with a `RangeError` when `ms` is negative or not a number.
   */
  advance(ms: number): Promise<void>;
  /** Real milliseconds until this clock shows `atMs`; `undefined` when it won't get there by itself. */
  waitMs(atMs: number): number | undefined;
  /** Runs `timeline` along with this clock. Returns a function that ends this. */
  drive(timeline: Timeline): () => void;
}

/**
 * Makes a clock that stands still until `advance(ms)`: a test waits an hour for a retry in a millisecond. Pass it to
 * `createSandbox` and to the mirror under test.
 * @param startMs The first reading, in milliseconds since 1970. Default 2026-01-25T10:00:00Z. Throws a `RangeError`
 * unless it is a whole number.
 * @example
 * const clock = manualClock();
 * const sandbox = await createSandbox({ clock });
 * await clock.advance(10_000);
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
    async advance(ms) {
      if (!Number.isFinite(ms) || ms < 0) {
        throw new RangeError(`Can't advance by ${ms} ms: time goes forward. Give 0 or more milliseconds.`);
      }
      // One move at a time: the next starts where this one ended.
      moving = moving.then(() => move(now() + Math.floor(ms)));
      await moving;
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
