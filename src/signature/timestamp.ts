import { orderKeyToMs, parseWireTime } from "../shared/wire-time.ts";
import { describeSeen, invalidConfiguration } from "./configuration-error.ts";
import type { TimestampUnit } from "./scheme.ts";

/** The option `webhook.toleranceMs`: one number for both sides, or one for each. */
export type ToleranceOption =
  | number
  | {
      /** How old a timestamp may be. Milliseconds, default 24 hours. */
      readonly past?: number;
      /** How far ahead a timestamp may be. Milliseconds, default 5 minutes. */
      readonly future?: number;
    };

/** How far a signed timestamp may lie from now, bounds included. */
export interface Tolerance {
  readonly pastMs: number;
  readonly futureMs: number;
}

/** The header carries the creation time and the last retry comes over 1 h 12 min later (§6.5): minutes would lose it. */
const defaultTolerance: Tolerance = { pastMs: 24 * 60 * 60 * 1000, futureMs: 5 * 60 * 1000 };

/**
 * Fills in the tolerance and checks it.
 *
 * @throws `invalid-configuration` for anything but whole milliseconds of 0 or more.
 */
export function resolveTolerance(option: ToleranceOption = {}): Tolerance {
  if (typeof option === "number") return { pastMs: checkMs(option), futureMs: checkMs(option) };
  if (!isTolerancePair(option)) throw badTolerance(option);
  const { past = defaultTolerance.pastMs, future = defaultTolerance.futureMs } = option;
  return { pastMs: checkMs(past), futureMs: checkMs(future) };
}

/**
 * A signed timestamp as milliseconds since 1970, or `undefined` for what the unit does not allow. Strict, for two
 * reasons: a value in another unit must not count as a date (13 digits of milliseconds are no seconds), and a
 * timestamp that could end in two places would let a part of it be taken for the body.
 */
export function parseTimestamp(text: string, unit: TimestampUnit): number | undefined {
  if (unit === "iso") return parseIso(text);
  if (unit === "ms") return /^\d{12,14}$/.test(text) ? Number(text) : undefined;
  return /^\d{1,11}$/.test(text) ? Number(text) * 1000 : undefined;
}

/** An instant as the scheme's header writes it. */
export function formatTimestamp(ms: number, unit: TimestampUnit): string {
  if (unit === "iso") return new Date(ms).toISOString();
  return String(unit === "s" ? Math.floor(ms / 1000) : ms);
}

export function isWithin(tolerance: Tolerance, timestampMs: number, nowMs: number): boolean {
  return nowMs - timestampMs <= tolerance.pastMs && timestampMs - nowMs <= tolerance.futureMs;
}

const isoWithZone = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/;

function parseIso(text: string): number | undefined {
  const time = isoWithZone.test(text) ? parseWireTime(text) : undefined;
  return time && orderKeyToMs(time.orderKey);
}

function isTolerancePair(option: unknown): boolean {
  if (typeof option !== "object" || option === null) return false;
  return Object.keys(option).every((name) => name === "past" || name === "future");
}

function checkMs(ms: unknown): number {
  if (typeof ms === "number" && Number.isSafeInteger(ms) && ms >= 0) return ms;
  throw badTolerance(ms);
}

function badTolerance(seen: unknown): Error {
  return invalidConfiguration(
    `webhook.toleranceMs is ${describeSeen(seen)}.`,
    "seconds with a fraction, a negative number, or a misspelt side.",
    "whole milliseconds of 0 or more, or { past, future } of them.",
  );
}
