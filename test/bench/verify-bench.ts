import { createHmac, createSecretKey, hash } from "node:crypto";
import { Stripe } from "stripe";
import { parseEvent } from "../../src/events/parse.ts";
import { headersOf } from "../../src/receiver/request.ts";
import { prepareSecrets } from "../../src/signature/secret.ts";
import { createVerifier } from "../../src/signature/verify.ts";
import { makeDeliveries, secret, type BenchDelivery } from "./deliveries.ts";
import { atMost, median, microseconds, microsecondsEach, type Figure } from "./stopwatch.ts";

const rounds = 15;
/** So few that they stay in the processor's cache, as bytes do that a server has just received. */
const distinct = 250;
const passes = 40;

/** Verify, parse and validate against the bare minimum of the platform, and beside stripe's `constructEvent`. */
export async function benchVerify(): Promise<Figure[]> {
  const deliveries = [...makeDeliveries(distinct)];
  const contenders = {
    ours: openOurs(deliveries),
    bare: openBare(deliveries),
    stripe: openStripe(deliveries),
    digest: openDigest(deliveries),
  };
  const times = { ours: [], bare: [], stripe: [], digest: [] } as Record<keyof typeof contenders, number[]>;
  for (let round = 0; round < rounds; round++)
    for (const name of ["ours", "bare", "stripe", "digest"] as const)
      times[name].push(await microsecondsEach(distinct * passes, () => repeat(contenders[name])));
  // The first rounds compile.
  const middle = (name: keyof typeof times): number => median(times[name].slice(2));
  const ours = middle("ours");
  const what = "verify + parse + validate, 342-byte body";
  return [
    atMost(2, {
      what,
      measured: microseconds(ours),
      against: `createHmac + JSON.parse: ${microseconds(middle("bare"))}`,
      ratio: ours / middle("bare"),
    }),
    beside(what, ours, `stripe's constructEvent: ${microseconds(middle("stripe"))}`, middle("stripe")),
    beside("the dedupe digest, beside it", middle("digest"), `the same: ${microseconds(ours)}`, ours),
  ];
}

function beside(what: string, measured: number, against: string, other: number): Figure {
  return {
    what,
    measured: microseconds(measured),
    against,
    ratio: measured / other,
    target: "shown",
    met: true,
  };
}

/** The step before, *request*, has read the headers: what is measured begins where the others begin. */
function toRequest({ headers, body }: BenchDelivery) {
  const received = headersOf(headers);
  return { body, headers: (name: string) => received.get(name) ?? [] };
}

/** One pass over all deliveries. */
type Pass = () => void;

function repeat(pass: Pass): void {
  for (let done = 0; done < passes; done++) pass();
}

function openOurs(deliveries: readonly BenchDelivery[]): Pass {
  const verifier = createVerifier();
  const secrets = prepareSecrets(secret, verifier.scheme);
  const requests = deliveries.map(toRequest);
  return () => {
    for (const request of requests)
      if (!verifier.verify(request, secrets, Date.now()).ok || !parseEvent(request.body).ok)
        throw new Error("a bench delivery did not verify");
  };
}

function openBare(deliveries: readonly BenchDelivery[]): Pass {
  const key = createSecretKey(Buffer.from(secret));
  return () => {
    for (const { body } of deliveries) {
      createHmac("sha256", key).update(body).digest();
      JSON.parse(body.toString());
    }
  };
}

function openStripe(deliveries: readonly BenchDelivery[]): Pass {
  const signed = deliveries.map(({ body }) => ({ body, header: signForStripe(body) }));
  return () => {
    for (const { body, header } of signed) Stripe.webhooks.constructEvent(body, header, secret);
  };
}

function signForStripe(body: Buffer): string {
  return Stripe.webhooks.generateTestHeaderString({ payload: body.toString(), secret });
}

function openDigest(deliveries: readonly BenchDelivery[]): Pass {
  return () => {
    for (const { body } of deliveries) hash("sha256", body, "hex");
  };
}
