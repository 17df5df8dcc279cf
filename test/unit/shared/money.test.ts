import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { plainDecimal, readDecimal, toMinorUnits } from "../../../src/shared/money.ts";

function minorOf(text: string): number | null {
  const amount = toMinorUnits(text);
  if (!amount.ok) throw new Error(`${text}: ${amount.error}`);
  return amount.value.minor;
}

describe("toMinorUnits", () => {
  it.each([
    ["600.00", 60_000],
    ["600", 60_000],
    ["686.25", 68_625],
    ["19.99", 1_999],
    ["0.1", 10],
    ["0.01", 1],
    ["1e2", 10_000],
    ["1E+2", 10_000],
    ["12.5e1", 12_500],
    ["125000e-3", 12_500],
    ["-12.50", -1_250],
    ["+12.50", 1_250],
    ["0012.50", 1_250],
    ["0", 0],
    ["-0.00", 0],
    ["0e999999999", 0],
    ["600.0000000000000000000000", 60_000],
    ["12345678901234.56", 1_234_567_890_123_456],
    ["90071992547409.91", Number.MAX_SAFE_INTEGER],
    ["-90071992547409.91", -Number.MAX_SAFE_INTEGER],
  ])("reads %s as %d halalas without a flag", (text, minor) => {
    expect(toMinorUnits(text)).toEqual({ ok: true, value: { minor, flags: [] } });
  });

  it.each([
    ["0.005", 1],
    ["0.0049999999999999999999999", 0],
    ["0.004", 0],
    ["-0.005", -1],
    ["-0.004", 0],
    ["1.115", 112],
    ["99.995", 10_000],
    ["1e-3", 0],
    ["1e-999999999999999999999", 0],
    ["90071992547409.914", Number.MAX_SAFE_INTEGER],
  ])("rounds %s half away from zero to %d and says so", (text, minor) => {
    expect(toMinorUnits(text)).toEqual({ ok: true, value: { minor, flags: ["amount-precision"] } });
  });

  it.each([
    "90071992547409.92",
    "-90071992547409.92",
    "90071992547409.915",
    "1e400",
    "1e999999999999999999999",
  ])("gives no number for %s, which is beyond 2^53 − 1 halalas", (text) => {
    expect(toMinorUnits(text)).toEqual({ ok: true, value: { minor: null, flags: ["amount-range"] } });
  });

  it.each(["", " ", "abc", "1,5", "1.", ".5", "1e", "--1", "0x10", " 1", "1 ", "NaN", "Infinity", "١"])(
    "refuses %j, which is no decimal",
    (text) => {
      expect(toMinorUnits(text)).toEqual({ ok: false, error: "not-a-decimal" });
    },
  );

  it("reads a megabyte of digits in linear time", () => {
    const zeros = "0".repeat(1_000_000);
    expect(minorOf(`${zeros}1`)).toBe(100);
    expect(minorOf(`1.${zeros}`)).toBe(100);
    expect(minorOf(`0.${zeros}1`)).toBe(0);
    expect(minorOf(`1${zeros}`)).toBeNull();
  });

  it("adds up exactly where binary fractions do not", () => {
    expect((minorOf("11.85") ?? 0) + (minorOf("18.35") ?? 0)).toBe(minorOf("30.20"));
  });

  it("agrees with integer arithmetic on every decimal", () => {
    const decimals = fc.record({
      negative: fc.boolean(),
      digits: fc.bigInt({ min: 0n, max: 10n ** 20n }),
      places: fc.integer({ min: 0, max: 25 }),
    });
    fc.assert(
      fc.property(decimals, ({ negative, digits, places }) => {
        const text = String(digits).padStart(places + 1, "0");
        const point = text.length - places;
        const written = `${negative ? "-" : ""}${text.slice(0, point)}${places > 0 ? `.${text.slice(point)}` : ""}`;
        const unit = 10n ** BigInt(places);
        const magnitude = (digits * 200n + unit) / (2n * unit);
        const expected =
          magnitude > BigInt(Number.MAX_SAFE_INTEGER) ? null : Number(negative ? -magnitude : magnitude);
        expect(minorOf(written)).toBe(expected);
      }),
    );
  });
});

describe("plainDecimal", () => {
  it.each([
    ["1e2", "100"],
    ["100.0", "100"],
    ["-100", "-100"],
    ["-0", "0"],
    ["0.50", "0.5"],
    ["1e-7", "0.0000001"],
    ["-1.25E1", "-12.5"],
    ["9007199254740993", "9007199254740993"],
    ["1e400", "1e400"],
    ["CNT-1", "CNT-1"],
  ])("writes %s as %s", (text, plain) => {
    expect(plainDecimal(text, 255)).toBe(plain);
  });
});

describe("readDecimal", () => {
  it("takes a number apart into sign, significant digits and power of ten", () => {
    expect(readDecimal("-0012.500e3")).toEqual({ negative: true, digits: "125", exponent: 2 });
    expect(readDecimal("x")).toBeUndefined();
  });
});
