import { err, ok } from "../../shared/result.ts";
import type { Result } from "../../shared/result.ts";

/** Amounts are whole halalas (1 SAR = 100). Nothing here, or anywhere in the sandbox, calculates with fractions. */

/** Ten billion SAR. Above it the service's own limits are not shown (§8); ours keeps every sum an exact integer. */
export const amountHalalasMax = 1_000_000_000_000;

/** An amount on its way into JSON, where it is printed as a number with two decimals. */
export class Amount {
  constructor(readonly halalas: number) {}
}

/** How the sandbox writes amounts: `600.00` or `600`. */
export type AmountStyle = "two-decimals" | "shortest";

/** `60000` → `600.00`, or `600` in the shortest style. */
export function formatHalalas(halalas: number, style: AmountStyle = "two-decimals"): string {
  const sign = halalas < 0 ? "-" : "";
  const digits = String(Math.abs(halalas)).padStart(3, "0");
  const text = `${sign}${digits.slice(0, -2)}.${digits.slice(-2)}`;
  return style === "shortest" ? text.replace(/\.?0+$/, "") : text;
}

const tooPrecise = err("must have at most two decimals.");
const tooLarge = err(`must be at most ${amountHalalasMax / 100}.`);

/**
 * A number of SAR above zero from a request body → halalas, or what is wrong with it. By way of its decimal digits
 * and not by multiplication: `0.29 * 100` is not 29.
 */
export function parseHalalas(value: number): Result<number, string> {
  if (Number.isNaN(value)) return err("must be a number.");
  const digits = /^(-?)(\d+)(?:\.(\d+))?$/.exec(String(value));
  if (digits === null) return Math.abs(value) < 1 ? tooPrecise : tooLarge;
  const [, sign = "", whole = "0", fraction = ""] = digits;
  if (fraction.length > 2) return tooPrecise;
  const halalas = Number(`${sign}${whole}${fraction.padEnd(2, "0")}`);
  if (halalas > amountHalalasMax) return tooLarge;
  return halalas > 0 ? ok(halalas) : err("must be greater than 0.");
}

/** Keeps the product below exact: 10^12 halalas × 9,000. */
export const basisPointsMax = 9_000;

/** `basisPoints` of `halalas`, rounded half up to a whole halala. 250 basis points are 2.5 %. Whole numbers throughout. */
export function shareOf(halalas: number, basisPoints: number): number {
  const tenThousandths = halalas * basisPoints + 5_000;
  return (tenThousandths - (tenThousandths % 10_000)) / 10_000;
}
