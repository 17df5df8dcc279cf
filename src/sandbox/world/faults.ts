import type { FaultOptions } from "./fault-options.ts";
import { seededRandom } from "./random.ts";
import type { Random } from "./random.ts";

/** How often each fault really happened. If all are zero, a passing test proves nothing. */
export interface FaultCounts {
  /** Deliveries sent twice. */
  duplicate: number;
  /** Deliveries that came after the contract's next one. */
  reorder: number;
  /** Deliveries never sent. */
  drop: number;
  /** Deliveries whose first attempt waited. */
  delay: number;
  /** Attempts with a wrong signature. */
  corruptSignature: number;
  /** API requests answered with an error. */
  apiErrors: number;
  /** API requests carried out and never answered. */
  cutConnection: number;
  /** GET requests answered late. */
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

/** Decides, from one seed, what goes wrong. Deliveries and requests draw from streams of their own. */
export class Faults {
  #options: FaultOptions = {};
  #seed = 0;
  #deliveryRandom: Random = seededRandom(0);
  #attemptRandom: Random = seededRandom(0);
  #requestRandom: Random = seededRandom(0);
  #counts: FaultCounts = { ...noCounts };

  /** Replaces the faults; what was counted stays. */
  set(options: FaultOptions, seed: number): void {
    this.#options = options;
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
