/** One of everything that a mirror tells of, with sentinels wherever a secret, a payload or a person could slip in. */
import type { Mirror, MirrorOptions, Outcome } from "../../src/index.ts";
import { delivery, otherSecret, secret, signed } from "../support/delivery.ts";
import { openMirror } from "../support/mirror.ts";

export const sentinels = [secret, otherSecret, "sentinel-"];

const created = delivery(
  "contract.created",
  {
    id: "c",
    seconds: 0,
    reference: "sentinel-reference",
    title: "sentinel-title",
    metadata: { metadata1: "sentinel-metadata" },
    buyer: { phoneNumber: "sentinel-phone" },
  },
  { headers: { cookie: "sentinel-cookie", "user-agent": "sentinel-agent" } },
);

/** Opens a mirror and has it answer, run, retry and give up. The mirror is idle afterwards. */
export async function runEverything(options: Partial<MirrorOptions> = {}) {
  const mirror = await openMirror({ jobs: { maxAttempts: 2, backoffMs: 0 }, ...options });
  const calls = registerHandlers(mirror);
  const outcomes: Outcome[] = [];
  const requests = [
    created,
    created,
    signed("sentinel-not-json"),
    delivery("contract.created", { id: "f" }, { secret: otherSecret }),
    { ...created, method: "GET" },
    { ...created, body: undefined as never },
  ];
  for (const request of requests) outcomes.push((await mirror.receive(request)).outcome);
  await mirror.idle();
  return { mirror, outcomes, calls };
}

/** How often each handler was called. */
function registerHandlers(mirror: Mirror): Record<"ends" | "again" | "dies", number> {
  const calls = { ends: 0, again: 0, dies: 0 };
  const failure = new Error("sentinel-error");
  mirror.on("contract.created", () => void calls.ends++, { name: "ends" });
  const failOnce = () => {
    if (calls.again++ === 0) throw failure;
  };
  mirror.on("contract.created", failOnce, { name: "again" });
  const fail = () => {
    calls.dies++;
    throw failure;
  };
  mirror.on("contract.created", fail, { name: "dies" });
  return calls;
}

export const expectedOutcomes: readonly Outcome[] = [
  "applied",
  "duplicate",
  "quarantined",
  "rejected",
  "rejected",
  "failed",
];
export const expectedCalls = { ends: 1, again: 2, dies: 2 };
