import { inspect } from "node:util";

import { ok } from "../../shared/result.ts";
import { refuseFields } from "../wire/refusal.ts";
import type { Granted, ValidationError } from "../wire/refusal.ts";

/** How often each fault happens: a probability from 0 to 1, by default 0. */
export interface FaultOptions {
  /** A delivery is sent twice; the copy follows within a second. */
  duplicate?: number;
  /** A delivery waits until the contract's next delivery is sent, at most 5 s. */
  reorder?: number;
  /** A delivery is never sent. */
  drop?: number;
  /** The first attempt waits: `[least, most]` in the sandbox's milliseconds. Default no wait. */
  delayMs?: readonly [number, number];
  /** An attempt has a signature that is well-formed and wrong. */
  corruptSignature?: number;
  /** An API request is answered 429, 500, 502 (as HTML, like a gateway's) or 503, and nothing is done. */
  apiErrors?: number;
  /** An API request is carried out, but the connection is cut before the answer. */
  cutConnection?: number;
  /** A GET is answered late, with the state at its arrival. */
  slowReads?: number;
  /** How late `slowReads` answers: `[least, most]` in real milliseconds. Default `[200, 1000]`. */
  slowReadMs?: readonly [number, number];
}

const probabilities = [
  "duplicate",
  "reorder",
  "drop",
  "corruptSignature",
  "apiErrors",
  "cutConnection",
  "slowReads",
] as const satisfies (keyof FaultOptions)[];
const ranges = ["delayMs", "slowReadMs"] as const satisfies (keyof FaultOptions)[];

/** Reads faults from anywhere; each wrong one is named. */
export function parseFaults(given: object): Granted<FaultOptions> {
  const faults: Mutable<FaultOptions> = {};
  const errors: ValidationError[] = [];
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined) continue;
    const probability = probabilities.find((known) => known === name);
    const range = ranges.find((known) => known === name);
    if (probability !== undefined && isProbability(value)) faults[probability] = value;
    else if (range !== undefined && isRange(value)) faults[range] = value;
    else errors.push({ field: name, message: explainWrong(name, value) });
  }
  return errors.length > 0 ? refuseFields(...errors) : ok(faults);
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

function isProbability(value: unknown): value is number {
  return typeof value === "number" && value >= 0 && value <= 1;
}

function isRange(value: unknown): value is [number, number] {
  if (!Array.isArray(value) || value.length !== 2) return false;
  const [least, most]: unknown[] = value;
  if (typeof least !== "number" || typeof most !== "number") return false;
  return least >= 0 && most >= least && Number.isFinite(most);
}

function explainWrong(name: string, value: unknown): string {
  const shown = inspect(value);
  if (probabilities.some((known) => known === name))
    return `The fault ${name} is ${shown}: give a probability from 0 to 1.`;
  if (ranges.some((known) => known === name))
    return `The fault ${name} is ${shown}: give [least, most] in milliseconds.`;
  return `There is no fault ${name}. Faults: ${[...probabilities, ...ranges].join(", ")}.`;
}
