import { describe, expect, it } from "vitest";
import {
  eventJob,
  isOncePerEver,
  jobsFor,
  type Filter,
  type Move,
  type News,
  type Subscription,
} from "../../../src/handlers/subscription.ts";
import type { Transition } from "../../../src/queries/shapes.ts";

const delivery = { contentKey: "k-1", webhookId: "wh-1", event: "payment.completed", contractId: "CNT-1" };
const anomaly = {
  kind: "gap",
  contractId: "CNT-1",
  milestoneId: null,
  webhookId: "wh-1",
  detail: "Escrow came after pending",
  at: "2026-04-14T14:30:00Z",
} as const;

function moveTo(shape: Partial<Transition>): Move {
  const transition: Transition = {
    contractId: "CNT-1",
    entity: "contract",
    milestoneId: null,
    from: "Approved",
    to: "Escrow",
    event: "payment.completed",
    webhookId: "wh-1",
    occurredAt: "2026-04-14T14:30:00Z",
    moved: true,
    derived: false,
    source: "spec",
    anomaly: null,
    ...shape,
  };
  return { inputKey: "i-1", contentKey: "k-1", byDelivery: true, transition };
}

function jobsOf(filter: Filter, news: Partial<News>) {
  const subscription: Subscription = {
    name: "h",
    kind: "event",
    filter,
    cursor: null,
    createdAt: "2026-04-14T14:30:00Z",
  };
  return jobsFor([subscription], { deliveries: [], moves: [], anomalies: [], ...news });
}

describe("a handler of events", () => {
  it("is owed one job for each delivery whose type it names", () => {
    const other = { ...delivery, contentKey: "k-2", event: "contract.created" };
    expect(jobsOf({ events: ["payment.completed"] }, { deliveries: [delivery, other] })).toEqual([
      {
        handler: "h",
        contractId: "CNT-1",
        jobKey: "k-1",
        contentKey: "k-1",
        webhookId: "wh-1",
        payload: null,
      },
    ]);
  });

  it("of everything is owed each delivery, and no move and no anomaly", () => {
    const jobs = jobsOf(
      { events: ["*"] },
      { deliveries: [delivery], moves: [moveTo({})], anomalies: [anomaly] },
    );
    expect(jobs.map(({ jobKey }) => jobKey)).toEqual(["k-1"]);
  });

  it("of anomalies is owed each once for ever, whichever milestone or delivery it came with", () => {
    const news = [anomaly, { ...anomaly, webhookId: "wh-2" }, { ...anomaly, detail: "another" }];
    const [first, again, other] = jobsOf({ events: ["anomaly"] }, { anomalies: news }).map(
      ({ jobKey }) => jobKey,
    );
    expect(again).toBe(first);
    expect(other).not.toBe(first);
    expect(isOncePerEver(first ?? "")).toBe(true);
  });

  it("has a job of its own for a replay, which is not once for ever", () => {
    expect(eventJob("h", delivery, " again")).toMatchObject({ jobKey: "k-1 again", contentKey: "k-1" });
    expect(isOncePerEver("k-1 again")).toBe(false);
  });
});

describe("a handler of moves", () => {
  it.each<[string, Filter, Partial<Transition>, number]>([
    ["of a contract hears of a contract's", { entity: "contract" }, {}, 1],
    ["of a contract hears of no milestone's", { entity: "contract" }, { entity: "milestone" }, 0],
    ["from a status hears of moves from there", { entity: "contract", from: ["Approved"] }, {}, 1],
    ["from a status hears of no other", { entity: "contract", from: ["pending"] }, {}, 0],
    ["from a status hears of no first status", { entity: "contract", from: ["pending"] }, { from: null }, 0],
    ["to a status hears of moves to there", { entity: "contract", to: ["Escrow"] }, {}, 1],
    ["to a status hears of no other", { entity: "contract", to: ["Released"] }, {}, 0],
    ["from and to needs both", { entity: "contract", from: ["pending"], to: ["Escrow"] }, {}, 0],
  ])("%s", (_, filter, shape, count) => {
    expect(jobsOf(filter, { deliveries: [delivery], moves: [moveTo(shape)] })).toHaveLength(count);
  });

  it("has a job for each milestone that one input moves", () => {
    const moves = ["13", "14"].map((milestoneId) => moveTo({ entity: "milestone", milestoneId }));
    const keys = jobsOf({ entity: "milestone" }, { moves }).map(({ jobKey }) => jobKey);
    expect(new Set([...keys, "i-1"]).size).toBe(3);
  });

  it("has the move as its job's payload", () => {
    const move = moveTo({});
    expect(jobsOf({ entity: "contract" }, { moves: [move] })).toMatchObject([
      { jobKey: "i-1", contentKey: "k-1", payload: move.transition },
    ]);
  });
});
