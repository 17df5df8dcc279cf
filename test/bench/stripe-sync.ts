/** Another library that takes webhooks into Postgres, fed with as many customers as it is asked for. */
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
    /** Makes and signs the events; what it gives receives them. */
    prepare: (count: number, round: number): (() => Promise<void>) => {
      const events = Array.from({ length: count }, (_, index) => toEvent(`${round}_${index}`));
      const signed = events.map((payload) => ({
        payload,
        header: stripe.webhooks.generateTestHeaderString({ payload, secret: webhookSecret }),
      }));
      return () => receiveEach(sync, signed);
    },
    close: () => sync.postgresClient.pool.end(),
  };
}

interface SignedEvent {
  readonly payload: string;
  readonly header: string;
}

async function receiveEach(sync: StripeSync, events: SignedEvent[]): Promise<void> {
  const worker = async (): Promise<void> => {
    for (let next = events.pop(); next !== undefined; next = events.pop())
      await sync.processWebhook(next.payload, next.header);
  };
  await Promise.all(Array.from({ length: inFlight }, worker));
}

function toEvent(id: string): string {
  const created = 1_767_225_600;
  const customer = {
    id: `cus_${id}`,
    object: "customer",
    created,
    email: `${id}@example.com`,
    name: `Customer ${id}`,
    currency: "sar",
    balance: 0,
    delinquent: false,
    invoice_prefix: "ABCDEF",
    livemode: false,
    metadata: { order: id },
    preferred_locales: [],
    tax_exempt: "none",
  };
  const event = { id: `evt_${id}`, object: "event", api_version: "2020-08-27", created };
  return JSON.stringify({ ...event, type: "customer.created", data: { object: customer } });
}
