/** Semantics §4: of concurrent copies of one delivery, in one process or many, exactly one is applied. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createMirror } from "../../src/mirror/create-mirror.ts";
import { systemClock } from "../../src/shared/clock.ts";
import { silentLogger } from "../../src/shared/logger.ts";
import { sqlite } from "../../src/store/sqlite/store.ts";
import type { Store } from "../../src/store/store.ts";
import { history } from "../../src/testing/arbitraries/history.ts";
import type { History, SentEvent } from "../../src/testing/story/history.ts";
import { asReceived, attemptsByDigest, foldedRows, mirroredRows, withinContracts } from "../property/rows.ts";
import { signSent, simulatedDeliveries, type SimulatedDelivery } from "./deliveries.ts";
import { buildChild, secret, startReceiver, type Answer, type Delivery, type Receiver } from "./processes.ts";
import { chooseSeed, report, secondsSince } from "./report.ts";

const rounds = Number(process.env["ROUNDS"] ?? 25);
const milestoneRounds = Math.max(20, Math.ceil(rounds * 0.4));
const timeout = 120_000 + rounds * 2_000;
const copies = 20;
const seed = chooseSeed();
const folder = mkdtempSync(join(tmpdir(), "escrow-mirror-concurrent-"));

afterAll(() => rmSync(folder, { recursive: true }));

describe("one process", () => {
  it(
    `of ${copies} identical deliveries at once one is applied and the rest are duplicates`,
    { timeout },
    async () => {
      const start = performance.now();
      await using mirror = await createMirror({
        store: sqlite(join(folder, "one.db")),
        webhook: { secrets: secret },
      });
      const deliver = (delivery: Delivery): Promise<Answer> =>
        mirror.receive({ method: "POST", ...delivery });
      for (const delivery of oneEach(rounds)) {
        const answers = await Promise.all(Array.from({ length: copies }, () => deliver(delivery)));
        expect(outcomes(answers)).toEqual({ applied: 1, duplicate: copies - 1 });
        expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
      }
      tell("identical deliveries at once, one process", start, { rounds });
    },
  );
});

describe("two processes on one file", () => {
  const database = join(folder, "two.db");
  let child: string;
  let processes: Receiver[] = [];

  beforeAll(async () => {
    child = await buildChild();
    processes = await Promise.all([0, 1].map(() => startReceiver(child, database)));
  }, 120_000);

  afterAll(async () => {
    await Promise.all(processes.map((each) => each.kill()));
  });

  it(
    `of ${copies} identical deliveries at once one is applied and the rest are duplicates`,
    { timeout },
    async () => {
      const start = performance.now();
      const retries = { count: 0 };
      for (const delivery of oneEach(rounds)) {
        const answers = await Promise.all(
          Array.from({ length: copies }, (_, at) => bring(at, delivery, retries)),
        );
        expect(outcomes(answers)).toEqual({ applied: 1, duplicate: copies - 1 });
      }
      tell("identical deliveries at once, two processes", start, {
        rounds,
        "answered 503 first": retries.count,
      });
    },
  );

  it(
    "of ten events of one milestone at once all are stored, and its state is the fold's",
    { timeout },
    async () => {
      const start = performance.now();
      const retries = { count: 0 };
      const stories = storiesOfOneMilestone(milestoneRounds);
      const delivered: SimulatedDelivery[] = [];
      for (const story of stories) {
        const deliveries = story.map(signSent);
        const answers = await Promise.all(deliveries.map((delivery, at) => bring(at, delivery, retries)));
        expect(outcomes(answers)).toEqual({ applied: story.length });
        delivered.push(...deliveries);
      }
      await checkStored(database, delivered);
      const counts = { rounds: milestoneRounds, "answered 503 first": retries.count };
      tell("ten events of one milestone at once, two processes", start, counts);
    },
  );

  /** As the service does: what is answered 503 comes again. */
  async function bring(at: number, delivery: Delivery, retries: { count: number }): Promise<Answer> {
    for (;;) {
      const answer = await processes[at % processes.length]?.post(delivery);
      if (answer === undefined || ![200, 503].includes(answer.status))
        throw new Error(`answered ${answer?.status ?? "nothing"}`);
      if (answer.status === 200) return answer;
      retries.count++;
    }
  }
});

/** One delivery of each of `count` contracts. */
function oneEach(count: number): SimulatedDelivery[] {
  const deliveries = simulatedDeliveries(count * 2, seed);
  const first = new Map(deliveries.map((delivery) => [delivery.contractId, delivery]));
  return [...first.values()].slice(0, count);
}

/** Ten events each of `count` contracts with one milestone, at least four of them the milestone's own. */
function storiesOfOneMilestone(count: number): SentEvent[][] {
  const taken = new Set(oneEach(rounds).map(({ contractId }) => contractId));
  const fitting = history({ manner: "wild", stepsMax: 24 }).filter(
    (told) => !taken.has(told.life.contractId) && isOfOneMilestone(told),
  );
  const told = fc.sample(fitting, { numRuns: count * 2, seed });
  const stories = new Map(told.map(({ life, sent }) => [life.contractId, sent.slice(0, 10)]));
  expect(stories.size).toBeGreaterThanOrEqual(count);
  return [...stories.values()].slice(0, count);
}

function isOfOneMilestone({ life, sent }: History): boolean {
  const own = sent.slice(0, 10).filter(({ event }) => event.milestoneId !== null);
  return life.milestoneIds.length === 1 && sent.length >= 10 && own.length >= 4;
}

async function checkStored(database: string, delivered: readonly SimulatedDelivery[]): Promise<void> {
  const store: Store = sqlite(database);
  await store.open({ migrate: "check", logger: silentLogger, clock: systemClock });
  const [attempts, rows] = [await attemptsByDigest(store), withinContracts(await mirroredRows(store))];
  const received = await asReceived(
    store,
    delivered.map(({ arrival }) => arrival),
  );
  await store.close();
  for (const { arrival } of delivered) expect(attempts.get(arrival.sent.digest)).toBe(1);
  const model = foldedRows(received);
  const ids = new Set(delivered.map(({ contractId }) => contractId));
  for (const [table, expected] of Object.entries(model))
    expect(rows[table]?.filter((row) => ids.has(String(row["contractId"])))).toEqual(expected);
}

function outcomes(answers: readonly Answer[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { outcome } of answers) counts[outcome] = (counts[outcome] ?? 0) + 1;
  return counts;
}

function tell(what: string, startMs: number, counts: Readonly<Record<string, number>>): void {
  report({ what, seed, seconds: secondsSince(startMs), counts });
}
