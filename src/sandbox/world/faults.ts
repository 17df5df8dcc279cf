import { seededRandom } from "./random.ts";
import type { Random } from "./random.ts";

/** How often something goes wrong: each a probability from 0 to 1. What is left out does not happen. */
export interface FaultOptions {
  /** The same delivery is sent twice. */
  duplicate?: number;
  /** A delivery waits until the contract's next one has overtaken it. */
  reorder?: number;
  /** A delivery is never sent. */
  drop?: number;
  /** The first attempt waits this long, drawn between the two; in the sandbox's milliseconds. */
  delayMs?: readonly [number, number];
  /** An attempt's signature is wrong. */
  corruptSignature?: number;
  /** An API request is answered 429, 500, 502 (as HTML, like a gateway's) or 503, and nothing is done. */
  apiErrors?: number;
  /** An API request is carried out, and the connection is cut instead of answered. */
  cutConnection?: number;
  /** A GET is answered late with what was true when it came. */
  slowReads?: number;
  /** How late, in real milliseconds. Default `[200, 1000]`. */
  slowReadMs?: readonly [number, number];
}

/** What the faults really did: a green run is worth nothing when these are zero. */
export interface FaultCounts {
  duplicate: number;
  reorder: number;
  drop: number;
  delay: number;
  corruptSignature: number;
  apiErrors: number;
  cutConnection: number;
  slowReads: number;
}

export type FaultKind = keyof FaultCounts;

export interface DeliveryFaults {
  drop: boolean;
  duplicate: boolean;
  reorder: boolean;
  delayMs: number;
}

export type RequestFault =
  { kind: "error"; status: 429 | 500 | 502 | 503 } | { kind: "cut" } | { kind: "slow"; ms: number };

const noCounts: FaultCounts = {
  duplicate: 0,
  reorder: 0,
  drop: 0,
  delay: 0,
  corruptSignature: 0,
  apiErrors: 0,
  cutConnection: 0,
  slowReads: 0,
};

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

/** Decides, from one seed, what goes wrong. Deliveries and requests draw from streams of their own. */
export class Faults {
  #options: FaultOptions = {};
  #seed = 0;
  #deliveryRandom: Random = seededRandom(0);
  #attemptRandom: Random = seededRandom(0);
  #requestRandom: Random = seededRandom(0);
  #counts: FaultCounts = { ...noCounts };

  /** Replaces the faults; what was counted stays. Throws a RangeError on a wrong value. */
  set(options: FaultOptions, { seed = 1 }: { seed?: number } = {}): void {
    if (!Number.isFinite(seed)) throw new RangeError("The faults' seed must be a number.");
    this.#options = parseFaults(options);
    this.#seed = seed;
    this.#deliveryRandom = seededRandom(seed);
    this.#attemptRandom = seededRandom(seed + 1);
    this.#requestRandom = seededRandom(seed + 2);
  }

  get(): FaultOptions & { seed: number } {
    return { ...this.#options, seed: this.#seed };
  }

  clear(): void {
    this.#options = {};
  }

  counts(): FaultCounts {
    return { ...this.#counts };
  }

  count(kind: FaultKind): void {
    this.#counts[kind]++;
  }

  /** All four are drawn every time, so that changing one probability does not shift the others' luck. */
  forDelivery(): DeliveryFaults {
    const { duplicate, reorder, drop, delayMs } = this.#options;
    const random = this.#deliveryRandom;
    return {
      drop: strikes(random, drop),
      duplicate: strikes(random, duplicate),
      reorder: strikes(random, reorder),
      delayMs: draw(random, delayMs ?? [0, 0]),
    };
  }

  corruptsSignature(): boolean {
    return this.#counted("corruptSignature", strikes(this.#attemptRandom, this.#options.corruptSignature));
  }

  forRequest(method: string): RequestFault | undefined {
    const random = this.#requestRandom;
    const { apiErrors, cutConnection, slowReads, slowReadMs } = this.#options;
    const error = strikes(random, apiErrors);
    const cut = strikes(random, cutConnection);
    const slow = strikes(random, slowReads);
    const drawn = random.next();
    if (this.#counted("apiErrors", error)) {
      return { kind: "error", status: ([429, 500, 502, 503] as const)[Math.floor(drawn * 4)] ?? 500 };
    }
    if (this.#counted("cutConnection", cut)) return { kind: "cut" };
    if (method !== "GET" || !this.#counted("slowReads", slow)) return undefined;
    return { kind: "slow", ms: between(drawn, slowReadMs ?? [200, 1_000]) };
  }

  #counted(kind: FaultKind, happens: boolean): boolean {
    if (happens) this.count(kind);
    return happens;
  }
}

function strikes(random: Random, probability = 0): boolean {
  return random.next() < probability;
}

function draw(random: Random, range: readonly [number, number]): number {
  return between(random.next(), range);
}

function between(drawn: number, [least, most]: readonly [number, number]): number {
  return Math.round(least + drawn * (most - least));
}

/** Reads faults from anywhere; throws a RangeError that says what is wrong with which. */
export function parseFaults(given: object): FaultOptions {
  const faults: Mutable<FaultOptions> = {};
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined) continue;
    const probability = probabilities.find((known) => known === name);
    const range = ranges.find((known) => known === name);
    if (probability !== undefined) faults[probability] = readProbability(name, value);
    else if (range !== undefined) faults[range] = readRange(name, value);
    else
      throw new RangeError(`There is no fault ${name}. Faults: ${[...probabilities, ...ranges].join(", ")}.`);
  }
  return faults;
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

function readProbability(name: string, value: unknown): number {
  if (typeof value === "number" && value >= 0 && value <= 1) return value;
  throw new RangeError(`The fault ${name} is ${JSON.stringify(value)}: give a probability from 0 to 1.`);
}

function readRange(name: string, value: unknown): [number, number] {
  const numbers = Array.isArray(value) ? value.map(Number) : [];
  const [least = Number.NaN, most = Number.NaN] = numbers;
  if (numbers.length === 2 && least >= 0 && most >= least && Number.isFinite(most)) return [least, most];
  throw new RangeError(`The fault ${name} is ${JSON.stringify(value)}: give [least, most] in milliseconds.`);
}
