/** Counterexamples that the laws have found, each by its own name. */
import { expect, it } from "vitest";
import { advance, fold } from "../../src/domain/fold.ts";
import type { FoldInput } from "../../src/domain/input.ts";
import { emptyState } from "../../src/domain/records.ts";
import { parseEvent } from "../../src/events/parse.ts";
import { signBody } from "../../src/signature/sign.ts";
import { createMemoryStore } from "../../src/testing/memory-store.ts";
import { arrivingAt, folding, openReceiving, secret } from "./receiving.ts";
import { mirroredRows, rowsOfStates, type Rows } from "./rows.ts";

it("what a refund is of does not hang on which of two contracts with its id came first", async () => {
  const nameless = event("refund.full-initiated", 1, { contractId: "CNT-1", transactionId: "45001" });
  const named = event("refund.full-succeeded", 2, {
    contractId: "CNT-1",
    transactionId: "45001",
    metadata: { milestoneId: "13" },
  });
  const elsewhere = event("refund.full-initiated", 3, { contractId: "CNT-2", transactionId: "45001" });
  const late = await rowsAfter([nameless, elsewhere, named]);
  expect(await rowsAfter([nameless, named, elsewhere])).toEqual(late);
  const shared = late["anomalies"]?.filter(({ kind }) => kind === "refund-id-shared") ?? [];
  // Each of the two contracts, and the milestone that takes the contract's refund for its own.
  expect(shared.map(({ contractId, milestoneId }) => [contractId, milestoneId])).toEqual([
    ["CNT-1", null],
    ["CNT-1", "13"],
    ["CNT-2", null],
  ]);
});

it("of several refunds under way the overlap names the same one, however the store orders them", () => {
  const begun = ["45001", "45002", "45003"].map((transactionId, minute) =>
    toInput(event("refund.full-initiated", minute, { contractId: "CNT-1", transactionId })),
  );
  const [first, second, third] = begun as [FoldInput, FoldInput, FoldInput];
  const two = advance(emptyState("CNT-1"), [first, second], folding);
  const turned = { ...two, refunds: new Map([...two.refunds].reverse()) };
  const step = rowsOfStates([advance(turned, [third], folding)]);
  const last = fold("CNT-1", begun, folding).anomalies.slice(two.anomalies.length);
  expect(step["anomalies"]).toEqual(last);
});

function event(type: string, minute: number, data: Readonly<Record<string, unknown>>): string {
  const timestamp = `2026-01-25T10:${String(minute + 10)}:00.0000000Z`;
  return JSON.stringify({ id: `${type}-${minute}`, event: type, data: { ...data, timestamp } });
}

async function rowsAfter(bodies: readonly string[]): Promise<Rows> {
  const { store, receiver } = await openReceiving(createMemoryStore());
  for (const body of bodies) {
    const headers = signBody({ secret, body, webhookId: body.slice(0, 60), timestamp: 0 });
    const answer = await arrivingAt(0, () => receiver.receive({ method: "POST", headers, body }));
    expect(answer.outcome).toBe("applied");
  }
  return mirroredRows(store);
}

function toInput(body: string): FoldInput {
  const parsed = parseEvent(Buffer.from(body));
  if (!parsed.ok) throw new Error(parsed.error.detail);
  return { kind: "event", digest: body, webhookId: body, receivedAt: "", facts: parsed.value.facts };
}
