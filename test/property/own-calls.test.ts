/** Semantics §1.4 and §6 for what is no webhook: API reads, our own requests, and the answers to them. */
import * as fc from "fast-check";
import { expect } from "vitest";
import { advance, fold } from "../../src/domain/fold.ts";
import type { AnswerInput, FoldInput, RequestInput } from "../../src/domain/input.ts";
import { groupByTime } from "../../src/domain/order.ts";
import { emptyState } from "../../src/domain/records.ts";
import { finish } from "../../src/domain/steps.ts";
import { orderKeyOf } from "../../src/shared/wire-time.ts";
import { noListeners } from "../../src/receiver/notify.ts";
import { commitOnce } from "../../src/receiver/commit.ts";
import { insertInputs } from "../../src/receiver/contracts/intents.ts";
import { createMemoryStore } from "../../src/testing/memory-store.ts";
import { silentLogger } from "../../src/shared/logger.ts";
import { sqlite } from "../../src/store/sqlite/store.ts";
import { postgresStore } from "../support/postgres.ts";
import type { Store } from "../../src/store/store.ts";
import { at, event, sha256, snapshot } from "../support/delivery.ts";
import { testClock } from "../support/mirror.ts";
import { law } from "./law.ts";
import { folding } from "./receiving.ts";
import { clearStore, mirroredRows, rowsOfStates, withinContracts } from "./rows.ts";

const contractId = "CNT-1";
/** Times lie within the clocks' skew of each other and beyond it. */
const second = fc.integer({ min: 0, max: 12 }).map((tick) => tick * 25);
const milestoneId = fc.constantFrom(null, "7");
const refundId = fc.constantFrom("R-1", "R-2");
const refundKind = fc.constantFrom("full" as const, "full" as const, "partial" as const);

const webhook = fc
  .tuple(
    fc.constantFrom(
      "contract.created",
      "payment.completed",
      "refund.full-initiated",
      "refund.full-succeeded",
      "refund.partial-initiated",
      "contract.refunded",
      "milestone.refund.full-initiated",
      "milestone.refund.full-succeeded",
    ),
    second,
    milestoneId,
    refundId,
  )
  .map(([type, seconds, milestone, transactionId]): FoldInput => {
    const named = type.startsWith("milestone.") ? { milestoneId: milestone ?? "7" } : {};
    return event(type, { seconds, transactionId, paymentId: "P", ...named });
  });

const read = fc
  .tuple(fc.constantFrom("escrow", "refundinprogress", "refunded", "cancelled"), second, milestoneId)
  .map(([status, seconds, milestone]): FoldInput =>
    snapshot({ status, seconds, milestones: milestone === null ? [] : [{ milestoneId: milestone, status }] }),
  );

/** A request, and what came of it, if anything. */
const asked = fc
  .tuple(
    second,
    fc.nat({ max: 100 }),
    milestoneId,
    refundKind,
    fc.option(fc.option(refundId), { nil: undefined }),
  )
  .map(([seconds, tookSeconds, milestone, kind, outcome]): FoldInput[] => {
    const intentId = `i-${seconds}-${milestone}-${kind}`;
    const requestedAt = at(seconds);
    const common = { of: "refund", intentId, contractId, milestoneId: milestone, refundKind: kind } as const;
    const request: RequestInput = {
      kind: "request",
      digest: sha256(intentId),
      receivedAt: requestedAt,
      facts: { ...common, orderKey: orderKeyOf(requestedAt), takenAt: requestedAt, amountMinor: null },
    };
    if (outcome === undefined) return [request];
    const takenAt = at(seconds + tookSeconds);
    const facts = { ...common, requestedAt, orderKey: orderKeyOf(takenAt), takenAt, amountMinor: 2500 };
    const answer: AnswerInput = {
      kind: "answer",
      digest: sha256(`answer ${intentId}`),
      receivedAt: takenAt,
      facts: { ...facts, refundId: outcome },
    };
    return [request, answer];
  });

const story = fc
  .tuple(
    fc.array(webhook, { maxLength: 6 }),
    fc.array(read, { maxLength: 3 }),
    fc.uniqueArray(asked, { maxLength: 2, selector: ([request]) => request?.digest ?? "" }),
  )
  .map(([webhooks, reads, calls]) => {
    const all = [...webhooks, ...reads, ...calls.flat()];
    return [...new Map(all.map((input) => [input.digest, input])).values()];
  });

law("own calls, reads and webhooks: steps in key order equal one fold", 0.3, story, (inputs) => {
  let state = emptyState(contractId);
  const transitions = [];
  const anomalies = [];
  for (const tied of finish(groupByTime(inputs))) {
    // As a store gives rows back: in another order than they were written.
    const refunds = new Map([...state.refunds].reverse());
    state = advance({ ...state, refunds }, tied, folding);
    transitions.push(...state.transitions);
    anomalies.push(...state.anomalies);
  }
  const stepped = rowsOfStates([{ ...state, transitions, anomalies }]);
  expect(stepped).toEqual(rowsOfStates([fold(contractId, inputs.toReversed(), folding)]));
});

law("own calls, reads and webhooks: a refund that we asked for never has two rows", 0.3, story, (inputs) => {
  const refunds = [...fold(contractId, inputs, folding).refunds.values()];
  const times = refunds.flatMap(({ requestedAt, kind, milestoneId: milestone }) =>
    requestedAt === null ? [] : [`${requestedAt} ${kind} ${milestone}`],
  );
  expect(new Set(times).size).toBe(times.length);
});

const arranged = fc.tuple(story, fc.array(fc.nat({ max: 99 }), { maxLength: 14 }));
const stores: readonly (readonly [string, number, () => Store])[] = [
  ["memory", 0.05, () => createMemoryStore()],
  ["SQLite", 0.03, () => sqlite(":memory:")],
  ["Postgres", 0.005, () => postgresStore()],
];

for (const [name, share, openStore] of stores) {
  let opened: Promise<Store> | undefined;
  law(
    `own calls and reads: any order gives the same rows in ${name}`,
    share,
    arranged,
    async ([inputs, order]) => {
      const store = await (opened ??= open(openStore()));
      await clearStore(store);
      const keyed = inputs.map((input, index) => [order[index] ?? index, input] as const);
      const commit = { store, clock: testClock(), folding, listeners: noListeners };
      for (const [, input] of keyed.toSorted(([a], [b]) => a - b)) {
        // Events come from deliveries' rows: the convergence laws have them.
        if (input.kind === "event") continue;
        await commitOnce(commit, {
          take: async (tx) => ({ inputs: await insertInputs(tx, [input]), deliveries: [] }),
        });
      }
      const own = inputs.filter(({ kind }) => kind !== "event");
      const states = own.length === 0 ? [] : [fold(contractId, own, folding)];
      expect(withinContracts(await mirroredRows(store))).toEqual(rowsOfStates(states));
    },
  );
}

async function open(store: Store): Promise<Store> {
  await store.open({ migrate: "auto", logger: silentLogger, clock: testClock() });
  return store;
}
