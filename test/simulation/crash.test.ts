/** Semantics §1.1: a 2xx means durable. SIGKILL at any instant loses no acknowledged delivery and applies none twice. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { silentLogger } from "../../src/shared/logger.ts";
import { systemClock } from "../../src/shared/clock.ts";
import { freshSchema, postgresUrl } from "../support/postgres.ts";
import { openDatabase } from "./database.ts";
import { asReceived, attemptsByDigest, foldedRows, mirroredRows, withinContracts } from "../property/rows.ts";
import { simulatedDeliveries, type SimulatedDelivery } from "./deliveries.ts";
import { buildChild, startReceiver, type Receiver } from "./processes.ts";
import { createRandom, type Random } from "./random.ts";
import { chooseSeed, report, secondsSince } from "./report.ts";

const kills = Number(process.env["KILLS"] ?? 20);
const inFlightMax = 24;
const folder = mkdtempSync(join(tmpdir(), "escrow-mirror-crash-"));
let child: string;

beforeAll(async () => {
  child = await buildChild();
}, 120_000);

afterAll(() => {
  rmSync(folder, { recursive: true });
});

const databases: readonly (readonly [string, () => string])[] = [
  ["an SQLite file", () => join(folder, "crash.db")],
  ["Postgres", () => `${postgresUrl}#${freshSchema()}`],
];

it.each(databases)(
  "a killed process on %s loses nothing that it answered 200, and applies nothing twice",
  { timeout: 60_000 + kills * 5_000 },
  async (where, place) => {
    const seed = chooseSeed();
    const start = performance.now();
    const database = place();
    const run = createRun(simulatedDeliveries(kills * 4, seed), createRandom(seed));
    for (let kill = 0; kill < kills; kill++) await liveAndDie(run, await startReceiver(child, database));
    await finish(run, await startReceiver(child, database));
    const { inFlight, unanswered } = run.counts;
    const counts = {
      kills,
      "with deliveries in flight": inFlight,
      "deliveries committed but not answered": unanswered,
    };
    report({
      what: `SIGKILL of a receiving process on ${where}`,
      seed,
      seconds: secondsSince(start),
      counts,
    });

    expect(run.faults).toEqual([]);
    await checkStored(run, database);
    expect(inFlight).toBeGreaterThan(kills * 0.9);
  },
);

interface Run {
  readonly random: Random;
  /** Not yet answered 200, or brought once more. */
  readonly queue: SimulatedDelivery[];
  readonly deliveries: readonly SimulatedDelivery[];
  /** By digest: how often it was sent, answered 200 and answered `applied`; cut off by a kill. */
  readonly known: Map<string, { sent: number; acked: number; applied: number; cutOff: boolean }>;
  readonly faults: string[];
  readonly counts: { inFlight: number; unanswered: number };
}

function createRun(deliveries: readonly SimulatedDelivery[], random: Random): Run {
  const queue = deliveries.map((delivery) => ({ delivery, key: random.next() }));
  return {
    random,
    deliveries,
    queue: queue.sort((a, b) => a.key - b.key).map(({ delivery }) => delivery),
    known: new Map(),
    faults: [],
    counts: { inFlight: 0, unanswered: 0 },
  };
}

/** Keeps many deliveries in flight until some are answered, then kills in the middle of whatever the process does. */
async function liveAndDie(run: Run, receiver: Receiver): Promise<void> {
  const answersLeft = 1 + run.random.below(30);
  const waitMs = run.random.next() * 4;
  const life = { answersLeft, dead: false, inFlight: 0 };
  const die = async (): Promise<void> => {
    await new Promise((resolve) => setTimeout(resolve, waitMs));
    if (life.inFlight > 0) run.counts.inFlight++;
    life.dead = true;
    await receiver.kill();
  };
  let death: Promise<void> | undefined;
  const send = async (): Promise<void> => {
    while (!life.dead && run.queue.length > 0) {
      life.inFlight++;
      const answered = await bring(run, receiver, run.queue.shift() as SimulatedDelivery);
      life.inFlight--;
      if (answered && --life.answersLeft === 0) death = die();
    }
  };
  await Promise.all(Array.from({ length: inFlightMax }, send));
  await (death ?? die());
}

/** Brings one; what is not answered 200 goes back into the queue, and some of what is answered comes again. */
async function bring(run: Run, receiver: Receiver, delivery: SimulatedDelivery): Promise<boolean> {
  const { digest } = delivery.arrival.sent;
  const known = run.known.get(digest) ?? { sent: 0, acked: 0, applied: 0, cutOff: false };
  run.known.set(digest, known);
  known.sent++;
  const mustBeKnown = known.acked > 0;
  const answer = await receiver.post(delivery);
  if (answer?.status !== 200) {
    if (answer !== undefined && answer.status !== 503) run.faults.push(`answered ${answer.status}`);
    known.cutOff ||= answer === undefined;
    run.queue.push(delivery);
    return false;
  }
  if (mustBeKnown && answer.outcome !== "duplicate") run.faults.push(`lost ${digest}: ${answer.outcome}`);
  if (known.cutOff && known.acked === 0 && answer.outcome === "duplicate") run.counts.unanswered++;
  known.acked++;
  if (answer.outcome === "applied" && ++known.applied > 1) run.faults.push(`applied twice: ${digest}`);
  if (run.random.next() < 0.15) run.queue.splice(run.random.below(run.queue.length + 1), 0, delivery);
  return true;
}

/** Brings all that is left to a process that lives. */
async function finish(run: Run, receiver: Receiver): Promise<void> {
  const send = async (): Promise<void> => {
    while (run.queue.length > 0) await bring(run, receiver, run.queue.shift() as SimulatedDelivery);
  };
  await Promise.all(Array.from({ length: inFlightMax }, send));
  await receiver.kill();
}

/** The file holds each delivery once, counted as often as it can have come, and the rows of a plain fold. */
async function checkStored(run: Run, database: string): Promise<void> {
  const store = openDatabase(database);
  await store.open({ migrate: "check", logger: silentLogger, clock: systemClock });
  const attempts = await attemptsByDigest(store);
  const rows = withinContracts(await mirroredRows(store));
  const received = await asReceived(
    store,
    run.deliveries.map(({ arrival }) => arrival),
  );
  await store.close();
  expect(attempts.size).toBe(run.known.size);
  for (const [digest, { sent, acked }] of run.known) {
    expect(attempts.get(digest)).toBeGreaterThanOrEqual(acked);
    expect(attempts.get(digest)).toBeLessThanOrEqual(sent);
  }
  expect(rows).toEqual(foldedRows(received));
}
