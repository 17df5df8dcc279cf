import { deepStrictEqual } from "node:assert/strict";
import type { Mirror } from "../../mirror/create-mirror.ts";
import type { Store } from "../../store/store.ts";
import { testSecret, type Delivery } from "../delivery.ts";
import type { Life } from "../lives-from.ts";
import { createRandom } from "../random.ts";
import { createTestMirror, type TestMirror } from "../test-mirror.ts";
import { contentOf, distinctOf, forged, rearranged } from "./arrivals.ts";
import { all, readLife, readMirror, type Observed } from "./read-mirror.ts";
import { telling } from "./timeline.ts";

/** A list of deliveries. It has `lives` if every delivery of these lives is in the list. */
export interface Schedule extends ReadonlyArray<Delivery> {
  /** Absent if a delivery is missing, or if the events' times do not show their real order. */
  readonly lives?: readonly Life[] | undefined;
}

/** Registers handlers on a mirror. May return a function that reads what the handlers have done. */
export type Register = (mirror: Mirror) => (() => unknown) | undefined | void;

/** Options of `assertConverges`. */
export interface ConvergeOptions {
  /** The secret that signed the deliveries. Default: `testSecret`. */
  readonly secret?: string | undefined;
  /** The same seed gives the same orders. Default 1. */
  readonly seed?: number | undefined;
  /** How many more orders to try, besides the given one. Default 3. */
  readonly orders?: number | undefined;
  /** Lives whose deliveries are all in the list. The mirror must end in their `truth`. Default: `deliveries.lives`. */
  readonly lives?: readonly Life[] | undefined;
  /** Creates the store of each mirror. Default: a store in memory. */
  readonly store?: (() => Store) | undefined;
  /**
   * Registers your handlers on each mirror, once for each order. The function that it returns must return the same after
   * every order.
   */
  readonly register?: Register | undefined;
  /** The state that `register`'s function must return in the end. */
  readonly expected?: unknown;
}

/**
 * Sends the deliveries to fresh mirrors in several orders: with duplicates, new ids and forged copies, and several at once.
 * Each time the mirror must end in the same state. If `lives` are known, it must be their `truth`. A rebuild must change
 * nothing.
 *
 * ```ts
 * for (const life of livesFrom(1, 20)) await assertConverges(life.deliveries, { lives: [life] });
 * ```
 *
 * @throws AssertionError with the difference, and the deliveries as a timeline
 */
export async function assertConverges(deliveries: Schedule, options: ConvergeOptions = {}): Promise<void> {
  const { seed = 1, orders = 3, lives = deliveries.lives ?? [] } = options;
  const random = createRandom(seed);
  const distinct = distinctOf(deliveries);
  const given = deliveries.map((delivery) => [delivery]);
  const first = await bring(given, options, lives);
  if ("expected" in options)
    await telling(given, "the handlers' state is not the expected one", () =>
      deepStrictEqual(first.state, options.expected),
    );
  for (let order = 1; order <= orders; order++) {
    const batches = rearranged(distinct, random);
    const other = await bring(batches, options, lives);
    const where = `(order ${order}, seed ${seed})`;
    await telling(batches, `another order changes the mirror's state ${where}`, () =>
      deepStrictEqual(other.observed, first.observed),
    );
    await telling(batches, `another order changes the handlers' state ${where}`, () =>
      deepStrictEqual(other.state, first.state),
    );
  }
}

/** A mirror's state after the deliveries, and the result of its handlers. */
async function bring(
  batches: readonly (readonly Delivery[])[],
  { secret = testSecret, store, register }: ConvergeOptions,
  lives: readonly Life[],
): Promise<{ readonly observed: Observed; readonly state: unknown }> {
  const opened = await createTestMirror({ secret, ...(store === undefined ? {} : { store: store() }) });
  const { mirror } = opened;
  try {
    const readState = register?.(mirror);
    await telling(batches, "an answer is wrong", () => deliverAll(opened, batches));
    await mirror.idle();
    await telling(batches, "the mirror differs from the service's own record", async () => {
      for (const { contractId, truth } of lives) deepStrictEqual(await readLife(mirror, contractId), truth);
    });
    await telling(batches, "the mirror has an anomaly that these lives do not explain", () =>
      checkAnomalies(mirror, lives),
    );
    const observed = await readMirror(mirror);
    await mirror.rebuild();
    await telling(batches, "a rebuild changes the mirror's state", async () =>
      deepStrictEqual(await readMirror(mirror), observed),
    );
    return { observed, state: await readState?.() };
  } finally {
    await mirror.close();
  }
}

/** A whole life may have these: steps without a webhook, ways back, types and times that are written otherwise. */
const legalAnomalies: ReadonlySet<string> = new Set(["gap", "unknown-event", "no-zone", "after-terminal"]);

async function checkAnomalies(mirror: Mirror, lives: readonly Life[]): Promise<void> {
  for (const { contractId } of lives) {
    const anomalies = await all((page) => mirror.anomalies.list({ ...page, contractId }));
    deepStrictEqual(
      anomalies.filter(({ kind }) => !legalAnomalies.has(kind)),
      [],
    );
  }
}

/** Every delivery is answered 200, its second copy as a duplicate; a forged one is refused and leaves nothing. */
async function deliverAll(
  { mirror, deliver }: TestMirror,
  batches: readonly (readonly Delivery[])[],
): Promise<void> {
  const outcomes = new Map<string, string[]>();
  for (const batch of batches) {
    const answers = await Promise.all(batch.map(deliver));
    for (const [index, { status, outcome, reason }] of answers.entries()) {
      const delivery = batch[index] as Delivery;
      if (status !== 200)
        throw new Error(`an authentic delivery is answered ${status} (${reason ?? outcome})`);
      const content = contentOf(delivery);
      outcomes.set(content, [...(outcomes.get(content) ?? []), outcome]);
    }
    const fake = await deliver(forged(batch[0] as Delivery));
    if (fake.status !== 401) throw new Error(`a forged delivery is answered ${fake.status}`);
  }
  for (const told of outcomes.values()) {
    const fresh = told.filter((outcome) => outcome !== "duplicate").length;
    if (fresh !== 1) throw new Error(`copies of one delivery are answered ${told.join(", ")}`);
  }
  const { items } = await mirror.deliveries.list({ limit: 500 });
  const attempts = items.reduce((sum, each) => sum + each.attempts, 0);
  const sent = batches.flat().length;
  if (items.length < 500 && (items.length !== outcomes.size || attempts !== sent))
    throw new Error(
      `${sent} deliveries of ${outcomes.size} contents were sent, and ${items.length} are stored with ${attempts} attempts`,
    );
}
