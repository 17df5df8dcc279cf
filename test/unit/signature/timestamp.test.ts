import { describe, expect, it } from "vitest";
import {
  formatTimestamp,
  isWithin,
  parseTimestamp,
  resolveTolerance,
} from "../../../src/signature/timestamp.ts";
import { noonMs } from "./request.ts";

describe("a signed timestamp", () => {
  it("is read in the unit of the scheme", () => {
    expect(parseTimestamp("1776177000", "s")).toBe(noonMs);
    expect(parseTimestamp("1776177000000", "ms")).toBe(noonMs);
    expect(parseTimestamp("2026-04-14T14:30:00Z", "iso")).toBe(noonMs);
    expect(parseTimestamp("2026-04-14T14:30:00.1234567Z", "iso")).toBe(noonMs + 123);
    expect(parseTimestamp("2026-04-14T17:30:00+03:00", "iso")).toBe(noonMs);
  });

  it.each([
    "1776177000000",
    "2026-04-14T14:30:00Z",
    "-5",
    "1e9",
    "1.5",
    " 1776177000",
    "1776177000 ",
    "",
    "٣",
  ])("in seconds is never %j", (text) => {
    expect(parseTimestamp(text, "s")).toBeUndefined();
  });

  it.each(["1776177000", "2026-04-14T14:30:00Z", "1776177000000.5", ""])(
    "in milliseconds is never %j",
    (text) => {
      expect(parseTimestamp(text, "ms")).toBeUndefined();
    },
  );

  it.each(["1776177000", "2026-04-14T14:30:00", "2026-04-14", "2026-13-14T14:30:00Z", "tomorrow", ""])(
    "in ISO 8601 is never %j: no zone would let it end in two places",
    (text) => {
      expect(parseTimestamp(text, "iso")).toBeUndefined();
    },
  );

  it.each([
    "2027-02-30T00:00:00Z",
    "2026-02-29T12:00:00Z",
    "2026-04-31T12:00:00Z",
    "2026-04-14T24:00:00Z",
    "2026-04-14T14:60:00Z",
    "2026-04-14T14:30:60Z",
    "2026-00-14T14:30:00Z",
    "2026-04-00T14:30:00Z",
    "2026-04-14T14:30:00+24:00",
    "0001-01-01T00:00:00Z",
  ])("in ISO 8601 is never %j: no such day or time exists, and none is rolled over", (text) => {
    expect(parseTimestamp(text, "iso")).toBeUndefined();
  });

  it("is written as it is read", () => {
    for (const unit of ["s", "ms", "iso"] as const) {
      expect(parseTimestamp(formatTimestamp(noonMs, unit), unit)).toBe(noonMs);
    }
  });
});

describe("the tolerance", () => {
  it("is 24 hours past and 5 minutes future by default, each side settable", () => {
    expect(resolveTolerance()).toEqual({ pastMs: 86_400_000, futureMs: 300_000 });
    expect(resolveTolerance({ past: 1 })).toEqual({ pastMs: 1, futureMs: 300_000 });
    expect(resolveTolerance({ future: 0 })).toEqual({ pastMs: 86_400_000, futureMs: 0 });
    expect(resolveTolerance(300_000)).toEqual({ pastMs: 300_000, futureMs: 300_000 });
  });

  it("has its bounds inside", () => {
    const tolerance = resolveTolerance(300_000);
    const within = (seconds: number) => isWithin(tolerance, noonMs + seconds * 1000, noonMs);
    expect([-301, -300, -299, -60, 60, 299, 300, 301].map(within)).toEqual([
      false,
      true,
      true,
      true,
      true,
      true,
      true,
      false,
    ]);
  });

  it.each([-1, 0.5, NaN, Infinity, "300", null, { past: -1 }, { past: 1, ahead: 1 }])(
    "is refused: %j",
    (option) => {
      expect(() => Reflect.apply(resolveTolerance, undefined, [option])).toThrow(
        expect.objectContaining({ code: "invalid-configuration" }),
      );
    },
  );
});
