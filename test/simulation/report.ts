/** What a random test ran, told at once and, in a soak, written down for the summary. */
import { appendFileSync } from "node:fs";

export interface Ran {
  readonly what: string;
  readonly seed: number;
  readonly seconds: number;
  /** Named counts: cases, kills, … */
  readonly counts: Readonly<Record<string, number>>;
}

/** Prints one line, so that a green run can be repeated too, and adds it to the soak's summary. */
export function report(ran: Ran): void {
  console.log(tellRan(ran));
  const path = process.env["SOAK_SUMMARY"];
  if (path !== undefined) appendFileSync(path, `${JSON.stringify(ran)}\n`);
}

/** `any order gives equal rows: cases 4,000, seed 12, 7.1 s` */
export function tellRan({ what, seed, seconds, counts }: Ran): string {
  const numbers = Object.entries(counts).map(([name, count]) => `${name} ${count.toLocaleString("en")}`);
  return `${what}: ${numbers.join(", ")}, seed ${seed}, ${seconds.toFixed(1)} s`;
}

/** The seed of this run: `SEED` where it is set. */
export function chooseSeed(): number {
  const given = process.env["SEED"];
  return given === undefined ? Math.floor(Math.random() * 2 ** 31) : Number(given);
}

export function secondsSince(startMs: number): number {
  return (performance.now() - startMs) / 1000;
}
