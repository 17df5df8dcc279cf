import type { Delivery } from "./delivery.ts";
import { testSecret } from "./delivery.ts";
import { createRandom, type Random } from "./random.ts";
import { plainDressing } from "./story/dressing.ts";
import { tellLife, type History } from "./story/history.ts";
import { signSent } from "./story/schedule.ts";
import type { LifePlan } from "./story/service.ts";
import { truthOf, type LifeTruth } from "./story/truth.ts";
import { walk } from "./story/walk.ts";

/** One contract's life: its deliveries, and the correct state at its end. */
export interface Life {
  /** The contract's external id. */
  readonly contractId: string;
  /** Each event once, in the order in which it happened. */
  readonly deliveries: readonly Delivery[];
  /** The correct state at the end of the life. */
  readonly truth: LifeTruth;
}

/**
 * Generates lives of contracts, with milestones, payments, disputes and refunds, in both editions of the service. The same
 * seed always gives the same lives. Each life belongs to a different contract.
 *
 * ```ts
 * for (const { deliveries, truth } of livesFrom(1, 100)) …
 * ```
 *
 * @param options `secret` signs the deliveries; default `testSecret`
 */
export function livesFrom(
  seed: number,
  count: number,
  { secret = testSecret }: { readonly secret?: string | undefined } = {},
): Life[] {
  const random = createRandom(seed);
  return Array.from({ length: count }, (_, index) => toLife(historyFrom(random, index + 1), secret));
}

/** A history as its signed deliveries. */
export function toLife(history: History, secret: string): Life {
  return {
    contractId: history.life.contractId,
    deliveries: history.sent.map((sent) => signSent(sent, `wh-${sent.payloadId}`, secret)),
    truth: truthOf(history),
  };
}

function historyFrom(random: Random, number: number): History {
  const choices = Array.from({ length: 1 + random.below(14) }, () => random.below(60));
  const opening = random.pick(["none", "paid", "funded"] as const);
  const life = walk(planFrom(random, number), opening, choices);
  const reference = random.pick(["data", "metadata"] as const);
  const dressings = life.events.map((_, index) => ({
    ...plainDressing,
    // The first event gives it. Later ones may leave it out.
    reference: index === 0 ? reference : random.pick([reference, "missing"] as const),
    casing: random.pick(["camel", "camel", "pascal"] as const),
    amount: random.pick(["decimals", "decimals", "short", "text"] as const),
    ids: random.pick(["text", "number"] as const),
  }));
  return { life, sent: tellLife(life, dressings, [], [], true) };
}

/** In halalas: exact as a number, and no longer once it was a float of SAR. */
const largestAmount = 9_007_199_254_740_987;

function planFrom(random: Random, number: number): LifePlan {
  return {
    edition: random.pick(["spec", "earlier"]),
    number,
    refundBase: undefined,
    refundsPerId: 1,
    reopens: random.below(3) === 0,
    milestoneIds: random.pick([[], ["13"], ["13", "14"], ["13", "14", "15"]]),
    reference: random.pick([null, `order-${number}`]),
    metadata: random.pick([{}, { metadata1: "a" }]),
    amountMinor: random.pick([60_000, 123_456, 1 + random.below(10_000_000), largestAmount]),
  };
}
