/** Receivers as the README examples of two well-known libraries have them. The kit says what each lacks. */
import express from "express";
import { expect, it } from "vitest";
import { Stripe } from "stripe";
import { Webhook } from "standardwebhooks";
import { receiverConformance } from "../../src/testing.ts";
import { startServer } from "./serve.ts";

async function failuresOf(app: express.Express, secret: string, signature: "stripe" | "standard-webhooks") {
  const server = await startServer(app);
  const report = await receiverConformance(server.url, { secret, signature, timeoutMs: 10_000 });
  await server.close();
  expect(report.ok).toBe(false);
  expect(report.checks.filter(({ ok, advice }) => !ok && advice === "")).toEqual([]);
  return report.checks.flatMap(({ ok, name, got }) => (ok ? [] : [`${name}: ${got}`]));
}

it("stripe's constructEvent in Express refuses late retries, what is no JSON, and long bodies", async () => {
  const secret = "whsec_0123456789abcdef0123456789abcdef";
  const stripe = new Stripe("sk_test_unused");
  const app = express();
  app.post("/", express.raw({ type: "application/json" }), (request, response) => {
    let event: Stripe.Event;
    try {
      event = stripe.webhooks.constructEvent(
        request.body as Buffer,
        request.headers["stripe-signature"] ?? "",
        secret,
      );
    } catch (error) {
      response.status(400).send(`Webhook Error: ${(error as Error).message}`);
      return;
    }
    if (event.type === "payment_intent.succeeded") response.json({ fulfilled: true });
    else response.json({ received: true });
  });
  expect(await failuresOf(app, secret, "stripe")).toMatchInlineSnapshot(`
    [
      "the last retry, 73 minutes after the first attempt: 400",
      "a body of 300 kB: 413",
      "a body that is not JSON: 400",
      "an empty body: 400",
      "JSON that is null: 500",
      "bytes that are not UTF-8: 400",
    ]
  `);
});

it("standardwebhooks in Express refuses late retries, what is no JSON, and long bodies", async () => {
  const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
  const webhook = new Webhook(secret);
  const app = express();
  app.post("/", express.raw({ type: "application/json" }), (request, response) => {
    webhook.verify(request.body as Buffer, request.headers as Record<string, string>);
    response.sendStatus(204);
  });
  expect(await failuresOf(app, secret, "standard-webhooks")).toMatchInlineSnapshot(`
    [
      "the last retry, 73 minutes after the first attempt: 500",
      "a body of 300 kB: 413",
      "a body that is not JSON: 500",
      "bytes that are not UTF-8: 500",
      "no signature: 500",
      "an empty signature: 500",
      "the first half of the signature: 500",
      "the signature without its last character: 500",
      "the signature with characters after it: 500",
      "a signature that is not a digest: 500",
      "the signature of another body: 500",
      "the signature of another secret: 500",
    ]
  `);
});
