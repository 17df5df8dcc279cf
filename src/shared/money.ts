import { err, ok } from "./result.ts";
import type { Result } from "./result.ts";

/** An amount in halalas, and what had to be said about it. */
export interface MinorUnits {
  /** Whole halalas, exact; `null` beyond ±(2^53 − 1). */
  readonly minor: number | null;
  readonly flags: readonly ("amount-precision" | "amount-range")[];
}

/** A decimal number taken apart: ± `digits` × 10^`exponent`. */
export interface Decimal {
  readonly negative: boolean;
  /** Significant digits: neither the first nor the last is a zero. `""` is zero. */
  readonly digits: string;
  /** May be infinite where the text's exponent is absurd; zero's is 0. */
  readonly exponent: number;
}

/** 1 SAR = 100 halalas. */
const minorDigits = 2;

/** 2^53 − 1 has 16 digits: whatever has more is out of range before it is computed. */
const minorDigitsMax = 16;

const decimalForm = /^([+-]?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

/**
 * `"600.00"` → 60000 halalas: whole numbers taken from the text's own digits, so nothing is rounded in binary.
 * Trailing zeros are not precision; more than two real decimals are rounded half away from zero and flagged
 * `amount-precision`; beyond 2^53 − 1 halalas the amount is `null`, flagged `amount-range`. An exponent (`1e2`)
 * is understood, and a huge one costs no memory. Fails with `not-a-decimal` on any other text.
 */
export function toMinorUnits(decimalText: string): Result<MinorUnits, "not-a-decimal"> {
  const decimal = readDecimal(decimalText);
  if (decimal === undefined) return err("not-a-decimal");
  const exponent = decimal.exponent + minorDigits;
  if (decimal.digits.length + exponent > minorDigitsMax) return ok(outOfRange);
  const magnitude = exponent >= 0 ? scaleUp(decimal.digits, exponent) : roundDown(decimal.digits, -exponent);
  if (magnitude > Number.MAX_SAFE_INTEGER) return ok(outOfRange);
  const minor = decimal.negative && magnitude > 0 ? -magnitude : magnitude;
  return ok({ minor, flags: exponent < 0 ? ["amount-precision"] : [] });
}

/** Takes a decimal text (`-12.50`, `1e2`) apart without computing with it; `undefined` for any other text. */
export function readDecimal(text: string): Decimal | undefined {
  const match = decimalForm.exec(text);
  if (match === null) return undefined;
  const [, sign, whole = "", fraction = "", power = "0"] = match;
  const all = whole + fraction;
  const end = lastNonZero(all) + 1;
  if (end === 0) return { negative: false, digits: "", exponent: 0 };
  const digits = all.slice(firstNonZero(all), end);
  return { negative: sign === "-", digits, exponent: Number(power) - fraction.length + (all.length - end) };
}

/**
 * The one spelling of a number: `1e2`, `100` and `100.0` are all `"100"`, and `1e-7` is `"0.0000001"`. A number
 * that would take more than `lengthMax` characters, and text that is no decimal, come back as they are.
 */
export function plainDecimal(text: string, lengthMax: number): string {
  const decimal = readDecimal(text);
  if (decimal === undefined) return text;
  if (decimal.digits === "") return "0";
  const { digits, exponent } = decimal;
  if (digits.length + Math.abs(exponent) > lengthMax) return text;
  return (
    (decimal.negative ? "-" : "") +
    (exponent >= 0 ? digits + "0".repeat(exponent) : withPoint(digits, -exponent))
  );
}

const outOfRange: MinorUnits = { minor: null, flags: ["amount-range"] };

// At most 16 digits come here, and Number() rounds monotonically: above 2^53 − 1 stays above it.
function scaleUp(digits: string, zeros: number): number {
  return Number(digits + "0".repeat(digits === "" ? 0 : zeros));
}

// `dropped` digits are below one halala, the last of them not a zero. The first of them decides: half goes up.
function roundDown(digits: string, dropped: number): number {
  const kept = digits.length - dropped;
  if (kept < 0) return 0;
  return Number(digits.slice(0, kept)) + (digits.charAt(kept) >= "5" ? 1 : 0);
}

function withPoint(digits: string, decimals: number): string {
  const padded = digits.padStart(decimals + 1, "0");
  return `${padded.slice(0, -decimals)}.${padded.slice(-decimals)}`;
}

// Loops, not /0+$/: that expression is quadratic on a megabyte of zeros.
function lastNonZero(digits: string): number {
  let at = digits.length - 1;
  while (at >= 0 && digits.charCodeAt(at) === zero) at--;
  return at;
}

function firstNonZero(digits: string): number {
  let at = 0;
  while (digits.charCodeAt(at) === zero) at++;
  return at;
}

const zero = 0x30;
