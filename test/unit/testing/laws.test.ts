import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Mirror } from "../../../src/index.ts";
import { sqlite } from "../../../src/sqlite.ts";
import {
  assertConverges,
  assertHandlerIdempotent,
  buildEvent,
  createTestMirror,
  livesFrom,
  recordedDeliveries,
  signDelivery,
} from "../../../src/testing.ts";
import { arbitraries } from "../../../src/testing-fast-check.ts";

const story = (
  ["contract.created", "contract.approved", "payment.completed", "contract.released"] as const
).map((type) => signDelivery(buildEvent(type, { data: { contractId: "CNT-1" } })));

async function messageOf(work: Promise<void>): Promise<string> {
  return work.then(
    () => "it holds",
    (error: unknown) => (error as Error).message,
  );
}

describe("assertConverges", () => {
  it.each(["complete", "skewed", "wild"] as const)("holds for schedules of the %s manner", async (manner) => {
    const property = fc.asyncProperty(arbitraries.schedule({ manner, contractsMax: 2 }), (each) =>
      assertConverges(each),
    );
    await fc.assert(property, { numRuns: 12 });
  });

  it("holds for what was recorded", async () => {
    // Two of the samples name one refund on two targets of a contract, and all are of their own contracts else.
    await assertConverges(recordedDeliveries);
  });

  it("rejects with a timeline where the mirror does not end as the truth", async () => {
    const [life] = livesFrom(1, 1);
    if (life === undefined) throw new Error("no life");
    const lost = life.deliveries.slice(0, -1);
    const message = await messageOf(assertConverges(lost, { lives: [life] }));
    expect(message).toContain("the mirror differs from the service's own record");
    expect(message).toMatch(
      /what arrived \(one line is one batch\)\n +1\. 2026-01-25T10:29:10\.0000000Z contract\.created/,
    );
  });

  it("rejects where handlers trust the order of arrival", async () => {
    expect(await messageOf(assertConverges(story, { register: lastSeen }))).toContain(
      "another order changes the handlers' state",
    );
  });

  it("rejects where the handlers' state is not the expected one", async () => {
    await assertConverges(story, { register: paidOnce, expected: { paid: 1 } });
    expect(await messageOf(assertConverges(story, { register: paidOnce, expected: { paid: 2 } }))).toContain(
      "the handlers' state is not the expected one",
    );
  });
});

describe("assertHandlerIdempotent", () => {
  it("holds for a handler that knows its idempotency key", async () => {
    await assertHandlerIdempotent(
      shipping(({ idempotencyKey }) => idempotencyKey),
      story,
    );
  });

  it("rejects a handler that ships on every attempt, with what ran", async () => {
    const message = await messageOf(
      assertHandlerIdempotent(
        shipping(({ idempotencyKey, attempt }) => `${idempotencyKey} ${attempt}`),
        story,
      ),
    );
    expect(message).toContain("differs when every first attempt crashed after its side effect");
    expect(message).toContain("ship payment.completed CNT-1, attempt 1: crashed after its side effect");
    expect(message).toContain("ship payment.completed CNT-1, attempt 2: done");
  });

  it("rejects a handler that always throws, with its error", async () => {
    expect(await messageOf(assertHandlerIdempotent(failing, story))).toMatch(
      /a handler fails by itself\nhandler broken failed 6 times: .*no such order/,
    );
  });

  it("tries handlers inside the transaction on a store with SQL, and moves", async () => {
    await assertHandlerIdempotent(movesAndLedger, story, { store: () => sqlite(":memory:") });
  });
});

describe("arbitraries", () => {
  it("shrink to a story that a person can read", async () => {
    const property = fc.property(arbitraries.history(), ({ truth }) => truth.disputes.length === 0);
    const { counterexample } = fc.check(property, { seed: 1, numRuns: 1000 });
    expect(fc.stringify(counterexample?.[0])).toMatch(
      /^\n +1\. .* contract\.created .*\n +2\. .* contract\.approved .*\n +3\. .* payment\.completed .*\n +4\. .* contract\.disputed .*\n$/,
    );
  });

  it("are answered as they should be, where they are hostile", async () => {
    const { mirror, deliver } = await createTestMirror();
    await deliver(buildEvent("contract.created"));
    const property = fc.asyncProperty(arbitraries.hostile(), async ({ isAuthentic, ...request }) => {
      expect((await mirror.receive(request)).status).toBe(isAuthentic ? 200 : 401);
    });
    await fc.assert(property, { numRuns: 200 });
    await mirror.close();
  });
});

function lastSeen(mirror: Mirror) {
  const statuses = new Map<string, string | null>();
  mirror.on("*", ({ contractId, status }) => statuses.set(contractId, status), { name: "status" });
  return () => statuses;
}

function paidOnce() {
  return () => ({ paid: 1 });
}

function shipping(key: (ctx: { idempotencyKey: string; attempt: number }) => string) {
  return (mirror: Mirror) => {
    const sent: string[] = [];
    mirror.on(
      "payment.completed",
      (_, ctx) => {
        if (!sent.includes(key(ctx))) sent.push(key(ctx));
      },
      { name: "ship" },
    );
    return () => sent.length;
  };
}

function failing(mirror: Mirror): void {
  mirror.on(
    "*",
    () => {
      throw new TypeError("no such order");
    },
    { name: "broken" },
  );
}

function movesAndLedger(mirror: Mirror) {
  const moves = new Set<string>();
  mirror.onTransition(
    { entity: "contract" },
    ({ to }, { idempotencyKey }) => moves.add(`${to} ${idempotencyKey}`),
    {
      name: "moves",
    },
  );
  mirror.inTransaction("payment.completed", async ({ contractId }) => moves.add(contractId), {
    name: "ledger",
  });
  return () => moves.size;
}
