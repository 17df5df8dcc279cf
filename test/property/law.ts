import * as fc from "fast-check";
import { it } from "vitest";
import { chooseSeed, report, secondsSince } from "../simulation/report.ts";

/** How many cases all laws take together: a part of the soak's 100,000, or `CASES`. */
const casesTotal = Number(process.env["CASES"] ?? 3_000);

/** A case may take this long before the runner gives the law up: a bound, not a measure. */
const caseMsMax = 200;

/**
 * One law as a test: `check` holds for every value. It takes its `share` of all cases and prints its seed, which `SEED`
 * repeats.
 */
export function law<Value>(
  title: string,
  share: number,
  values: fc.Arbitrary<Value>,
  check: (value: Value) => Promise<void> | void,
): void {
  const cases = Math.round(casesTotal * share);
  const run = async (): Promise<void> => {
    const seed = chooseSeed();
    const start = performance.now();
    const property = fc.asyncProperty(values, async (value): Promise<void> => check(value));
    await fc.assert(property, { numRuns: cases, seed });
    report({ what: title, seed, seconds: secondsSince(start), counts: { cases } });
  };
  it(title, { timeout: 60_000 + cases * caseMsMax }, run);
}
