/** Ways for deliveries to arrive: in any order, more than once, with new ids, several at once. */
import type { Delivery } from "../delivery.ts";
import type { Random } from "../random.ts";

/** Each body once, in the order of its first copy. */
export function distinctOf(deliveries: readonly Delivery[]): Delivery[] {
  const firsts = new Map<string, Delivery>();
  for (const delivery of deliveries) {
    const key = contentOf(delivery);
    if (!firsts.has(key)) firsts.set(key, delivery);
  }
  return [...firsts.values()];
}

/** The identity of a delivery: the signed bytes. */
export function contentOf({ body }: Delivery): string {
  return typeof body === "string" ? body : Buffer.from(body).toString("latin1");
}

/** The same deliveries in another order, in batches. Some are repeated, some of those with a new id. */
export function rearranged(deliveries: readonly Delivery[], random: Random): Delivery[][] {
  const again = deliveries.flatMap((delivery, index) => {
    const copies = random.pick([0, 0, 1, 2]);
    return Array.from({ length: copies }, (_, copy) =>
      random.below(2) === 0 ? delivery : underFreshId(delivery, `fresh-${index}-${copy}`),
    );
  });
  return inBatches(random.shuffled([...deliveries, ...again]), random);
}

/** In the same order, each twice. Then all once more, with new ids. */
export function repeated(deliveries: readonly Delivery[]): Delivery[][] {
  const twice = deliveries.flatMap((delivery) => [[delivery], [delivery]]);
  const later = deliveries.map((delivery, index) => [underFreshId(delivery, `fresh-${index}`)]);
  return [...twice, ...later];
}

/** The header is not signed: anybody who replays a delivery can change its id. */
export function underFreshId(delivery: Delivery, id: string): Delivery {
  const headers = Object.fromEntries(
    Object.entries(delivery.headers).map(([name, value]) => [name, /webhook-id$/i.test(name) ? id : value]),
  );
  return { ...delivery, headers };
}

/** The same headers with another body: its signature does not hold. */
export function forged(delivery: Delivery): Delivery {
  return { ...delivery, body: Buffer.concat([Buffer.from(delivery.body), Buffer.from(" ")]) };
}

function inBatches(deliveries: readonly Delivery[], random: Random): Delivery[][] {
  const batches: Delivery[][] = [];
  for (let start = 0; start < deliveries.length; start += batches.at(-1)?.length ?? 1)
    batches.push(deliveries.slice(start, start + 1 + random.pick([0, 0, 1, 3])));
  return batches;
}
