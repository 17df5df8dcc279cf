/** The effects of deliveries: once each, in any order, and for good. */
import type { Delivery } from "../delivery.ts";
import { underFreshId } from "../laws/arrivals.ts";
import { isSame, isTaken, tellAnswer, tellObserved, type Probe } from "./probe.ts";
import type { Found, Trial } from "./trial.ts";

const remember =
  "Store the payload's id, or a digest of the body, in a unique column, in the same transaction as the effect. The header's id is not signed: anybody who replays a delivery can change it.";
const byTime =
  "Order events by data.timestamp and previousStatus, not by their arrival: retries come up to 73 minutes late.";

export const effectTrials: readonly Trial[] = [
  {
    name: "a second copy is answered",
    expected: "2xx",
    advice: "Answer 2xx to what you have already: else the service sends it five times more.",
    run: async (probe) => {
      const delivery = probe.event("contract.created", probe.freshContract());
      await probe.send(delivery);
      const answer = await probe.send(delivery);
      return { ok: isTaken(answer), got: tellAnswer(answer) };
    },
  },
  likePlain("a second copy takes no effect", remember, ([created, approved, paid, released]) => [
    [created],
    [approved],
    [paid],
    [paid],
    [released],
    [paid],
    [released],
  ]),
  likePlain(
    "a copy under a fresh id takes no effect",
    remember,
    ([created, approved, paid, released], probe) => [
      [created],
      [approved],
      [paid],
      [underFreshId(paid, `fresh-${probe.freshContract()}`)],
      [released],
      [underFreshId(released, `fresh-${probe.freshContract()}`)],
    ],
  ),
  likePlain(
    "two copies at once take effect once",
    `${remember} A look before the insert is not enough: both copies look at once.`,
    ([created, approved, paid, released]) => [
      [created, created],
      [approved, approved],
      [paid, paid, paid, paid],
      [released, released],
    ],
  ),
  likePlain(
    "an older event that comes late does not turn the state back",
    byTime,
    ([created, approved, paid, released]) => [[created], [approved], [released], [paid]],
  ),
  likePlain(
    "what comes before its predecessors is not lost",
    byTime,
    ([created, approved, paid, released]) => [[released], [paid], [approved], [created]],
  ),
  {
    name: "a milestone's event leaves its contract's status",
    expected: "Escrow",
    advice: "The status of a milestone.* event is the milestone's, not the contract's.",
    needs: "observe",
    run: milestoneApart,
  },
  {
    name: "of two refunds the one that is named succeeds",
    expected: "one refund initiated, the other succeeded",
    advice: "Match the two events of a refund by data.transactionId, not by contract, amount or milestone.",
    needs: "observe",
    run: refundsById,
  },
  {
    name: "a refund's first event that comes late does not turn it back",
    expected: "the refund succeeded",
    advice: "A refund that has succeeded stays so: its initiated event may be a retry that comes after.",
    needs: "observe",
    run: refundStays,
  },
  {
    name: "amounts are exact",
    expected: "465 halalas for 4.35 + 0.10 + 0.20 SAR",
    advice:
      "Keep money as whole halalas, made from the digits of the number: 4.35 * 100 is 434.99999999999994.",
    needs: "observe",
    run: exactSum,
  },
  {
    name: "what was answered 2xx is there after a crash",
    expected: "the contract, as before the crash",
    advice: "Commit before you answer: a 2xx that is not durable is an event lost.",
    needs: "restart",
    run: survives,
  },
];

type Story = readonly [created: Delivery, approved: Delivery, paid: Delivery, released: Delivery];

function storyOf(probe: Probe, contractId: string): Story {
  return [
    probe.event("contract.created", contractId),
    probe.event("contract.approved", contractId),
    probe.event("payment.completed", contractId),
    probe.event("contract.released", contractId),
  ];
}

/** Delivered in batches, the story must end as when each came once and in order. */
function likePlain(
  name: string,
  advice: string,
  arrange: (story: Story, probe: Probe) => readonly (readonly Delivery[])[],
): Trial {
  const expected = "the same as when each event comes once and in order";
  const run = async (probe: Probe): Promise<Found> => {
    const [plain, other] = [probe.freshContract(), probe.freshContract()];
    const failed = await probe.sendAll(storyOf(probe, plain));
    if (failed !== undefined) return { ok: false, got: tellAnswer(failed) };
    await probe.settle();
    const reference = await probe.observe(plain);
    if (reference === undefined) return undefined;
    for (const batch of arrange(storyOf(probe, other), probe)) {
      const answers = await Promise.all(batch.map((delivery) => probe.send(delivery)));
      const wrong = answers.find((answer) => !isTaken(answer) && (answer.status ?? 0) < 500);
      if (wrong !== undefined) return { ok: false, got: tellAnswer(wrong) };
    }
    await probe.settle();
    const seen = await probe.observeUntil(other, (now) => isSame(now, reference));
    return {
      ok: isSame(seen, reference),
      got: isSame(seen, reference)
        ? "the same"
        : `${tellObserved(seen)} instead of ${tellObserved(reference)}`,
    };
  };
  return { name, expected, advice, needs: "observe", run };
}

async function milestoneApart(probe: Probe): Promise<Found> {
  const contractId = probe.freshContract();
  const [created, approved, paid] = storyOf(probe, contractId);
  const milestones = ["milestone.payment.completed", "milestone.released"].map((type) =>
    probe.event(type, contractId),
  );
  await probe.sendAll([created, approved, paid, ...milestones]);
  await probe.settle();
  const seen = await probe.observe(contractId);
  if (seen?.status === undefined) return undefined;
  return { ok: seen.status?.toLowerCase() === "escrow", got: String(seen.status) };
}

async function refundsById(probe: Probe): Promise<Found> {
  const contractId = probe.freshContract();
  const refund = (type: string, milestoneId: string, transactionId: string): Delivery =>
    probe.event(type, contractId, { milestoneId, transactionId, amount: 100 });
  await probe.sendAll([
    refund("milestone.refund.full-initiated", "13", "70013"),
    refund("milestone.refund.full-initiated", "14", "70014"),
    refund("milestone.refund.full-succeeded", "14", "70014"),
  ]);
  const expected = { "70013": "initiated", "70014": "succeeded" };
  const seen = await probe.observeUntil(contractId, (now) => isSame(now?.refunds, expected));
  if (seen?.refunds === undefined) return undefined;
  return { ok: isSame(seen.refunds, expected), got: tellObserved(seen.refunds) };
}

async function refundStays(probe: Probe): Promise<Found> {
  const contractId = probe.freshContract();
  const refund = (type: string): Delivery =>
    probe.event(type, contractId, { milestoneId: "13", transactionId: "70013", amount: 100 });
  const initiated = refund("milestone.refund.full-initiated");
  await probe.sendAll([refund("milestone.refund.full-succeeded"), initiated]);
  await probe.settle();
  const expected = { "70013": "succeeded" };
  const seen = await probe.observeUntil(contractId, (now) => isSame(now?.refunds, expected));
  if (seen?.refunds === undefined) return undefined;
  return { ok: isSame(seen.refunds, expected), got: tellObserved(seen.refunds) };
}

async function exactSum(probe: Probe): Promise<Found> {
  const contractId = probe.freshContract();
  const payments = [4.35, 0.1, 0.2].map((amount, index) =>
    probe.event("payment.completed", contractId, {
      amount,
      paymentId: `PAY-${index}-${contractId}`,
      transactionId: `TXN-${index}-${contractId}`,
    }),
  );
  await probe.sendAll(payments);
  const seen = await probe.observeUntil(contractId, (now) => now?.paidMinor === 465);
  if (seen?.paidMinor === undefined) return undefined;
  return { ok: seen.paidMinor === 465, got: String(seen.paidMinor) };
}

async function survives(probe: Probe): Promise<Found> {
  for (let life = 1; life <= 3; life++) {
    const [plain, contractId] = [probe.freshContract(), probe.freshContract()];
    await probe.sendAll([probe.event("contract.created", plain)]);
    await probe.settle();
    const reference = await probe.observe(plain);
    if (reference === undefined) return undefined;
    const answer = await probe.send(probe.event("contract.created", contractId));
    if (!isTaken(answer)) return { ok: false, got: tellAnswer(answer) };
    await probe.restart();
    const seen = await probe.observeUntil(contractId, (now) => isSame(now, reference));
    if (!isSame(seen, reference)) return { ok: false, got: `${tellObserved(seen)} after crash ${life}` };
  }
  return { ok: true, got: "the same after three crashes" };
}
