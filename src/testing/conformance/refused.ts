/** Requests that nobody signed: each must be refused, without a trace. */
import type { Delivery } from "../delivery.ts";
import { isSame, tellAnswer, tellObserved, type Probe } from "./probe.ts";
import type { Answer } from "./exchange.ts";
import type { Trial } from "./trial.ts";

const compare =
  "Compare the whole digest, in constant time, after checking that both have the same length: anything else is refused with 401.";

export const refusedTrials: readonly Trial[] = [
  refused(
    "no signature",
    "Refuse a request without the signature header: a warning in the log is not enough.",
    () => undefined,
  ),
  refused("an empty signature", compare, () => ""),
  refused("the first half of the signature", compare, (right) =>
    right.slice(0, Math.ceil(right.length / 2) + 4),
  ),
  refused("the signature without its last character", compare, (right) => right.slice(0, -1)),
  refused("the signature with characters after it", compare, (right) => `${right}00`),
  refused("a signature that is not a digest", compare, () => "sha256=\u00e9\u00e9\u00e9 ,v1=,"),
  refused("the signature of another body", compare, (_, probe) =>
    signatureOf(probe.event("contract.created", probe.freshContract())),
  ),
  refused("the signature of another secret", compare, (_, probe) =>
    signatureOf(probe.event("contract.created", probe.freshContract(), {}, { secret: otherSecret })),
  ),
  {
    name: "a forged delivery leaves nothing",
    expected: "the same data as for a contract without any delivery",
    advice: "Verify before anything is stored.",
    needs: "observe",
    run: async (probe) => {
      const contractId = probe.freshContract();
      await probe.send(withSignature(probe.event("contract.created", contractId), undefined));
      await probe.send(probe.event("contract.created", contractId, {}, { secret: otherSecret }));
      await probe.settle();
      const seen = await probe.observe(contractId);
      return { ok: isSame(seen, await probe.observe(probe.freshContract())), got: tellObserved(seen) };
    },
  },
  {
    name: "a GET, though it is signed",
    expected: "405, or another 4xx",
    advice: "Answer 405 to everything but POST: a redirect or a page with 200 hides a wrong URL.",
    run: async (probe) => {
      const answer = await probe.send({ ...probe.sign(""), method: "GET" });
      return { ok: isRefused(answer) || answer.status === 501, got: tellAnswer(answer) };
    },
  },
  {
    name: "a body of 3 MiB that nobody signed",
    expected: "413, or another 4xx before the whole body is held in memory",
    advice: "Limit the body of this route, to 1 MiB: else anybody can fill your memory.",
    run: async (probe) => {
      const unsigned = {
        ...probe.event("contract.created", probe.freshContract()),
        body: "x".repeat(3_145_728),
      };
      const answer = await probe.send(unsigned);
      const isClosed = answer.status === undefined && !answer.problem.startsWith("no answer");
      return { ok: answer.status === 413 || answer.status === 401 || isClosed, got: tellAnswer(answer) };
    },
  },
];

const otherSecret = "whsec_b3RoZXItc2VjcmV0LW9mLXRoZS1raXQtMDEyMzQ1Njc4OQ==";

function refused(
  name: string,
  advice: string,
  forge: (right: string, probe: Probe) => string | undefined,
): Trial {
  return {
    name,
    expected: "401, or another 4xx",
    advice,
    run: async (probe) => {
      const delivery = probe.event("contract.created", probe.freshContract());
      const answer = await probe.send(withSignature(delivery, forge(signatureOf(delivery), probe)));
      return { ok: isRefused(answer), got: tellAnswer(answer) };
    },
  };
}

function isRefused({ status }: Answer): boolean {
  return status !== undefined && status >= 400 && status < 500;
}

const isSignature = (name: string): boolean => /signature|hmac/i.test(name);

function signatureOf({ headers }: Delivery): string {
  return Object.entries(headers).find(([name]) => isSignature(name))?.[1] ?? "";
}

/** HTTP sends headers as Latin-1. */
function withSignature(delivery: Delivery, value: string | undefined): Delivery {
  const headers = Object.entries(delivery.headers).flatMap(([name, right]) => {
    if (!isSignature(name)) return [[name, right] as const];
    return value === undefined ? [] : [[name, value] as const];
  });
  return { ...delivery, headers: Object.fromEntries(headers) };
}
