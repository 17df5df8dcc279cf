import * as fc from "fast-check";
import { afterEach, describe, expect, it } from "vitest";
import {
  fractionDigitsMax,
  millisecondsBetween,
  orderKeyOf,
  orderKeyToMs,
  parseWireTime,
} from "../../../src/shared/wire-time.ts";

const processZone = process.env["TZ"];

afterEach(() => {
  if (processZone === undefined) delete process.env["TZ"];
  else process.env["TZ"] = processZone;
});

function keyOf(text: string): string {
  return parseWireTime(text)?.orderKey ?? "";
}

describe("parseWireTime", () => {
  it.each([
    ["2026-01-25T10:28:10.4874015Z", "2026-01-25T10:28:10.4874015Z", "2026-01-25T10:28:10.487401500", true],
    ["2026-01-25T10:28:10Z", "2026-01-25T10:28:10Z", "2026-01-25T10:28:10.000000000", true],
    ["2026-01-31T10:28:10.5Z", "2026-01-31T10:28:10.5Z", "2026-01-31T10:28:10.500000000", true],
    ["2026-01-25t10:28:10.50z", "2026-01-25T10:28:10.50Z", "2026-01-25T10:28:10.500000000", true],
    ["2026-01-25 10:28:10Z", "2026-01-25T10:28:10Z", "2026-01-25T10:28:10.000000000", true],
    ["2026-01-25T10:28Z", "2026-01-25T10:28:00Z", "2026-01-25T10:28:00.000000000", true],
    [
      "2026-01-25T10:28:10.4874015+01:00",
      "2026-01-25T09:28:10.4874015Z",
      "2026-01-25T09:28:10.487401500",
      true,
    ],
    ["2026-01-01T00:30:00+0100", "2025-12-31T23:30:00Z", "2025-12-31T23:30:00.000000000", true],
    ["2026-01-25T22:28:10-03", "2026-01-26T01:28:10Z", "2026-01-26T01:28:10.000000000", true],
    ["2026-01-25T10:28:10-00:30", "2026-01-25T10:58:10Z", "2026-01-25T10:58:10.000000000", true],
    ["2026-01-25T10:28:10.4874015", "2026-01-25T10:28:10.4874015Z", "2026-01-25T10:28:10.487401500", false],
    ["2026-01-25T10:28", "2026-01-25T10:28:00Z", "2026-01-25T10:28:00.000000000", false],
    ["2026-01-25", "2026-01-25T00:00:00Z", "2026-01-25T00:00:00.000000000", false],
    ["2024-02-29T00:00:00Z", "2024-02-29T00:00:00Z", "2024-02-29T00:00:00.000000000", true],
    ["0099-06-01T00:00:00Z", "0099-06-01T00:00:00Z", "0099-06-01T00:00:00.000000000", true],
    ["0001-12-31T23:30:00-01:00", "0002-01-01T00:30:00Z", "0002-01-01T00:30:00.000000000", true],
    [
      "2026-01-25T10:28:10.1234567890120Z",
      "2026-01-25T10:28:10.1234567890120Z",
      "2026-01-25T10:28:10.123456789012",
      true,
    ],
  ])("reads %s", (given, text, orderKey, zone) => {
    expect(parseWireTime(given)).toEqual({ text, orderKey, zone });
  });

  it.each<[unknown, string]>([
    ["0001-01-01T00:00:00", "year 1, .NET's default"],
    ["0001-01-01T00:00:00Z", "year 1"],
    ["0002-01-01T00:30:00+01:00", "year 1 in UTC"],
    ["0000-05-01T00:00:00Z", "year 0"],
    ["9999-12-31T23:30:00-01:00", "year 10000 in UTC"],
    ["2026-02-30T00:00:00Z", "30 February"],
    ["2026-02-29T00:00:00Z", "29 February of a common year"],
    ["1900-02-29T00:00:00Z", "29 February of 1900"],
    ["2026-04-31T00:00:00Z", "31 April"],
    ["2026-13-01T00:00:00Z", "month 13"],
    ["2026-00-01T00:00:00Z", "month 0"],
    ["2026-01-00T00:00:00Z", "day 0"],
    ["2026-01-25T24:00:00Z", "24:00"],
    ["2026-01-25T23:60:00Z", "minute 60"],
    ["2026-01-25T23:59:60Z", "second 60"],
    ["2026-01-25T10:28:10+24:00", "an offset of a day"],
    ["2026-01-25T10:28:10+01:60", "an offset of 60 minutes"],
    ["2026-01-25T10:28:10.Z", "a point without digits"],
    ["2026-01-25Z", "a zone without a time"],
    ["2026-01-25T10Z", "an hour alone"],
    ["26-01-25T10:28:10Z", "two digits of a year"],
    ["+002026-01-25T10:28:10Z", "an expanded year"],
    [" 2026-01-25T10:28:10Z", "white space"],
    ["2026-01-25T10:28:10Z\n", "a line end"],
    ["Sun, 25 Jan 2026 10:28:10 GMT", "another format"],
    ["", "nothing"],
    [1_769_336_890, "a number"],
    [null, "null"],
    [{}, "an object"],
  ])("takes %j for no time: %s", (value: unknown) => {
    expect(parseWireTime(value)).toBeUndefined();
  });

  it("reads as many fractional digits as its bound, and no more", () => {
    const longest = `2026-01-25T10:28:10.${"1".repeat(fractionDigitsMax)}Z`;
    expect(parseWireTime(longest)?.text).toBe(longest);
    expect(parseWireTime(longest.replace("Z", "1Z"))).toBeUndefined();
  });

  it.each(["Asia/Riyadh", "America/St_Johns", "UTC"])(
    "does not depend on the process's zone, here %s",
    (zone) => {
      process.env["TZ"] = zone;
      expect(parseWireTime("2026-03-29T02:30:00")?.text).toBe("2026-03-29T02:30:00Z");
      expect(parseWireTime("2026-03-29T02:30:00+03:00")?.text).toBe("2026-03-28T23:30:00Z");
      expect(orderKeyToMs("2026-03-29T02:30:00.000000000")).toBe(Date.UTC(2026, 2, 29, 2, 30));
    },
  );

  it("knows the calendar as Date does", () => {
    fc.assert(
      fc.property(fc.nat(9999), fc.nat(13), fc.nat(32), (year, month, day) => {
        const text = [
          String(year).padStart(4, "0"),
          String(month).padStart(2, "0"),
          String(day).padStart(2, "0"),
        ].join("-");
        const date = new Date(`${text}T00:00:00.000Z`);
        const exists = !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text) && year > 1;
        expect(parseWireTime(`${text}T00:00:00Z`) !== undefined).toBe(exists);
      }),
    );
  });
});

describe("order keys", () => {
  const instants = fc.record({
    ms: fc.date({
      min: new Date("0002-01-02T00:00:00Z"),
      max: new Date("9999-12-30T00:00:00Z"),
      noInvalidDate: true,
    }),
    near: fc.integer({ min: -2, max: 2 }),
    fraction: fc.stringMatching(/^[019]{1,14}$/),
    offset: fc.integer({ min: -1439, max: 1439 }),
  });

  type Instant = typeof instants extends fc.Arbitrary<infer Value> ? Value : never;

  function seconds({ ms, near }: Instant): number {
    return Math.floor(ms.getTime() / 1000) + near;
  }

  function written(instant: Instant): string {
    const local = new Date((seconds(instant) + instant.offset * 60) * 1000).toISOString().slice(0, 19);
    const minutes = Math.abs(instant.offset);
    const hours = String(Math.floor(minutes / 60)).padStart(2, "0");
    return `${local}.${instant.fraction}${instant.offset < 0 ? "-" : "+"}${hours}:${String(minutes % 60).padStart(2, "0")}`;
  }

  function exact(instant: Instant): bigint {
    return BigInt(seconds(instant)) * 10n ** 14n + BigInt(instant.fraction.padEnd(14, "0"));
  }

  // Pairs close to each other, or the order of two fractions would hardly ever be tried.
  const pairs = fc
    .tuple(instants, instants, fc.boolean())
    .map(([a, b, close]) => [a, close ? { ...b, ms: a.ms } : b] as const);

  it("sort as the instants do, and equal instants have equal keys", () => {
    fc.assert(
      fc.property(pairs, ([a, b]) => {
        const [keyA, keyB] = [keyOf(written(a)), keyOf(written(b))];
        expect(Math.sign(Buffer.compare(Buffer.from(keyA), Buffer.from(keyB)))).toBe(
          exact(a) < exact(b) ? -1 : Number(exact(a) > exact(b)),
        );
      }),
    );
  });

  it("are as far apart as the instants, exactly at every whole millisecond", () => {
    const unit = 10n ** 11n;
    fc.assert(
      fc.property(pairs, fc.integer({ min: -1, max: 1 }), ([a, b], shift) => {
        const between = millisecondsBetween(keyOf(written(a)), keyOf(written(b)));
        const limit = Math.floor(between) + shift;
        expect(between <= limit).toBe(exact(b) - exact(a) <= BigInt(limit) * unit);
        expect(between >= limit).toBe(exact(b) - exact(a) >= BigInt(limit) * unit);
      }),
    );
  });

  it("give the same key for a time and for the text written of it", () => {
    fc.assert(
      fc.property(instants, (instant) => {
        const time = parseWireTime(written(instant));
        expect(orderKeyOf(time?.text ?? "")).toBe(time?.orderKey);
        expect(parseWireTime(time?.text)).toEqual(time);
      }),
    );
  });

  it("become whole milliseconds, rounded down", () => {
    expect(orderKeyToMs(keyOf("2026-01-25T10:28:10.4879999Z"))).toBe(Date.UTC(2026, 0, 25, 10, 28, 10, 487));
    expect(orderKeyToMs(keyOf("1969-12-31T23:59:59.9999999Z"))).toBe(-1);
    expect(orderKeyToMs(keyOf("0050-01-01T00:00:00Z"))).toBe(Date.parse("0050-01-01T00:00:00Z"));
  });

  it("of events without a time are near to nothing", () => {
    expect(orderKeyToMs("")).toBeNaN();
    expect(millisecondsBetween("", "2026-01-25T10:28:10.000000000")).toBeNaN();
  });
});

describe("millisecondsBetween", () => {
  it.each([
    ["10", "10", 0],
    ["10", "11", 1000],
    ["11", "10", -1000],
    ["10.0000001", "10.0010001", 1],
    ["10", "10.0010001", 1.5],
    ["10.0010001", "10", -1.5],
    ["10.0000001", "10.001", 0.5],
    ["10", "10.0000000000001", 0.5],
  ])("from second %s to second %s is %d", (a, b, between) => {
    expect(millisecondsBetween(keyOf(`2026-01-25T10:28:${a}Z`), keyOf(`2026-01-25T10:28:${b}Z`))).toBe(
      between,
    );
  });
});
