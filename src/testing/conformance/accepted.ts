/** Authentic deliveries: each must be answered 2xx, whatever is in it. Ten in a row that are not disable the subscription. */
import type { Delivery } from "../delivery.ts";
import type { Sent } from "./exchange.ts";
import { isTaken, tellAnswer, type Probe } from "./probe.ts";
import type { Trial } from "./trial.ts";

const kept =
  "It is authentic, so answer 2xx and store the raw body for a person to look at. The service never sends a refused delivery again, and ten in a row disable the subscription.";
const rawBytes =
  "Verify the raw bytes of the request, before any JSON parser or text decoder has touched them.";

export const acceptedTrials: readonly Trial[] = [
  accepted(
    "a signed delivery",
    "Check the secret, the name of the signature header and what is signed.",
    (probe) => probe.event("contract.created", probe.freshContract()),
  ),
  accepted(
    "the last retry, 73 minutes after the first attempt",
    "Don't refuse by the time in the header: it is that of the first attempt, and the fifth retry comes more than 72 minutes later. Stop replays by remembering what has come.",
    (probe) =>
      probe.event("contract.created", probe.freshContract(), {}, { timestamp: Date.now() - 73 * 60_000 }),
  ),
  accepted(
    "numbers, escapes and spaces that a JSON writer changes",
    `${rawBytes} JSON.stringify turns 600.00 into 600, and the signature no longer holds.`,
    (probe) =>
      probe.sign(
        `{"id" : "p-${probe.freshContract()}","event":"contract.created","data":{"contractId":"${probe.freshContract()}","status":"pending","amount":600.00,"reference":"caf\\u00e9 \\/ 7e2"}}\n`,
      ),
  ),
  accepted("text beyond ASCII", rawBytes, (probe) =>
    probe.event("contract.created", probe.freshContract(), { reference: "طلب 7 – é 😀" }),
  ),
  accepted(
    "a body in chunks, without Content-Length",
    "Read the body to its end, whether or not its length is given first.",
    (probe) => ({ ...probe.event("contract.created", probe.freshContract()), isChunked: true }),
  ),
  accepted(
    "a body of 300 kB",
    "Raise the body limit of this route to 1 MiB: Express has 100 kB by default.",
    (probe) => probe.event("contract.created", probe.freshContract(), { padding: "x".repeat(300_000) }),
  ),
  accepted("header names in capitals", "Header names have no case: read them in lower case.", (probe) =>
    withHeaders(probe.event("contract.created", probe.freshContract()), (name) => name.toUpperCase()),
  ),
  accepted("names of fields in Pascal case", kept, (probe) =>
    probe.event("contract.created", probe.freshContract(), {}, { casing: "pascal" }),
  ),
  accepted(
    "a type of event that is new",
    "Answer 2xx to types that you don't know, and ignore or store them: the service adds some.",
    (probe) => probe.event("contract.archived", probe.freshContract(), { status: "Archived" }),
  ),
  accepted(
    "a status that is new, with fields that are new",
    "Take statuses and fields that you don't know: the service adds some.",
    (probe) =>
      probe.event("contract.approved", probe.freshContract(), { status: "UnderReview", risk: { score: 1 } }),
  ),
  accepted(
    "a milestone's refund of the earlier edition",
    "The milestone is in data.metadata.milestoneId alone, as text.",
    (probe) => probe.event("refund.full-initiated", probe.freshContract(), { milestoneId: "13" }),
  ),
  accepted("webhook.test, which names no contract", kept, (probe) =>
    probe.event("webhook.test", "", { contractId: undefined }),
  ),
  accepted("no time that can be read", kept, (probe) =>
    probe.event("contract.created", probe.freshContract(), { timestamp: "0001-01-01T00:00:00" }),
  ),
  accepted("a body that is not JSON", kept, (probe) => probe.sign("not JSON {")),
  accepted("an empty body", kept, (probe) => probe.sign("")),
  accepted("JSON of another shape", kept, (probe) =>
    probe.sign(`[null,{"data":7,"n":"${probe.freshContract()}"}]`),
  ),
  accepted("JSON that is null", kept, (probe) => probe.sign("null")),
  accepted("a payload without a contract's id", kept, (probe) =>
    probe.event("contract.created", "", { contractId: undefined, reference: probe.freshContract() }),
  ),
  accepted("bytes that are not UTF-8", kept, (probe) => probe.sign(new Uint8Array([0x7b, 0xff, 0xfe, 0x7d]))),
];

type Made = Delivery & Pick<Sent, "isChunked">;

function accepted(name: string, advice: string, make: (probe: Probe) => Made): Trial {
  return {
    name,
    expected: "2xx",
    advice,
    run: async (probe) => {
      const answer = await probe.send(make(probe));
      return { ok: isTaken(answer), got: tellAnswer(answer) };
    },
  };
}

export function withHeaders(delivery: Delivery, rename: (name: string) => string): Delivery {
  const renamed = Object.entries(delivery.headers).map(([name, value]) => [rename(name), value]);
  return { ...delivery, headers: Object.fromEntries(renamed) as Record<string, string> };
}
