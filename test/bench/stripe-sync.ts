/**
 * Another library that takes webhooks into Postgres, fed with a stream of the same shape as ours: objects that live
 * through five events each, five hundred of them side by side, in bodies of the same size.
 */
import { createRequire } from "node:module";
import type { runMigrations, StripeSync } from "@supabase/stripe-sync-engine";
import { Stripe } from "stripe";

interface Engine {
  readonly StripeSync: typeof StripeSync;
  readonly runMigrations: typeof runMigrations;
}

const webhookSecret = "whsec_bench_stripe";
const inFlight = 64;

export async function openStripeSync(url: string) {
  // Its ESM build looks for its migrations where they are not.
  const engine = createRequire(import.meta.url)("@supabase/stripe-sync-engine") as Engine;
  await engine.runMigrations({ databaseUrl: url, schema: "stripe" });
  const sync = new engine.StripeSync({
    poolConfig: { connectionString: url, max: 10 },
    stripeSecretKey: "sk_test_bench",
    stripeWebhookSecret: webhookSecret,
  });
  const stripe = new Stripe("sk_test_bench");
  return {
    /** Makes and signs the events of charges from `first` on; what it gives receives them. */
    prepare: (count: number, first: number): (() => Promise<void>) => {
      const signed = [...makeEvents(count, first)].map((payload) => ({
        payload,
        header: stripe.webhooks.generateTestHeaderString({ payload, secret: webhookSecret }),
      }));
      return () => receiveEach(sync, signed);
    },
    /** Every event must have been taken in: there are so many charges, and each has ended. */
    check: async (charges: number): Promise<void> => {
      const { rows } = await sync.postgresClient.query(
        "select count(*) = $1 and bool_and(refunded) as complete from stripe.charges",
        [String(charges)],
      );
      if (!(rows[0] as { complete: boolean }).complete)
        throw new Error("stripe-sync-engine has not stored what it was fed");
    },
    close: () => sync.postgresClient.pool.end(),
  };
}

interface SignedEvent {
  readonly payload: string;
  readonly header: string;
}

async function receiveEach(sync: StripeSync, events: Iterable<SignedEvent>): Promise<void> {
  const queue = events[Symbol.iterator]();
  const worker = async (): Promise<void> => {
    for (let next = queue.next(); !next.done; next = queue.next())
      await sync.processWebhook(next.value.payload, next.value.header);
  };
  await Promise.all(Array.from({ length: inFlight }, worker));
}

/** What a charge goes through: its event, and what the event's object says then. */
const life = [
  ["charge.pending", { status: "pending" }],
  ["charge.succeeded", { status: "succeeded", paid: true }],
  ["charge.captured", { status: "succeeded", paid: true, captured: true }],
  ["charge.updated", { status: "succeeded", paid: true, captured: true, description: "seen" }],
  [
    "charge.refunded",
    { status: "succeeded", paid: true, captured: true, refunded: true, amount_refunded: 60_000 },
  ],
] as const;

function* makeEvents(count: number, first: number, sideBySide = 500): Generator<string> {
  let made = 0;
  for (let base = first; made < count; base += sideBySide)
    for (const [step, [type, state]] of life.entries())
      for (let charge = base; charge < base + sideBySide && made < count; charge++, made++)
        yield toEvent(charge, step, type, state);
}

function toEvent(charge: number, step: number, type: string, state: object): string {
  const created = 1_767_225_600 + charge + step * 60;
  const object = {
    id: `ch_${String(charge).padStart(24, "0")}`,
    object: "charge",
    amount: 60_000,
    amount_refunded: 0,
    captured: false,
    created,
    currency: "sar",
    customer: `cus_${charge}`,
    livemode: false,
    metadata: { order: `order-${charge}` },
    paid: false,
    payment_intent: `pi_${charge}`,
    refunded: false,
    ...state,
  };
  const id = `evt_${charge}_${step}`;
  return JSON.stringify({ id, object: "event", created, type, data: { object } });
}
