/** Semantics §1.4 and §4 with many writers: concurrent copies in several processes come out as one delivery. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { silentLogger } from "../../src/shared/logger.ts";
import { createMemoryStore } from "../../src/testing/memory-store.ts";
import { postgres } from "../../src/store/postgres/store.ts";
import { asReceived, attemptsByDigest, mirroredRows } from "../property/rows.ts";
import { arrivalClock, openReceiving, secret } from "../property/receiving.ts";
import { history } from "../../src/testing/arbitraries/history.ts";
import { signArrived, type ScheduledEvent } from "../../src/testing/story/schedule.ts";
import { createRandom, type Random } from "../simulation/random.ts";
import { chooseSeed, report, secondsSince } from "../simulation/report.ts";
import { freshSchema, postgresUrl } from "../support/postgres.ts";
import { startChild } from "../support/process.ts";
import * as fc from "fast-check";

const isSoak = process.env["SOAK"] === "1";
const contracts = isSoak ? 500 : 50;
const deliveries = isSoak ? 20_000 : 2_000;
const processes = 4;
const folder = mkdtempSync(join(tmpdir(), "escrow-mirror-processes-"));

afterAll(() => rmSync(folder, { recursive: true }));

it(
  `${processes} processes that share one shuffled, duplicated stream apply each delivery once`,
  { timeout: 60_000 + deliveries * 20 },
  async () => {
    const seed = chooseSeed();
    const start = performance.now();
    const random = createRandom(seed);
    const distinct = distinctEvents(seed);
    const stream = duplicated(distinct, random);
    const schema = freshSchema();
    const starting = deal(stream).map((share, index) => {
      const file = join(folder, `${index}.json`);
      writeFileSync(file, JSON.stringify(share.map((sent) => signArrived(sent, secret))));
      return startChild("receive-postgres", postgresUrl, schema, file, secret);
    });
    const children = await Promise.all(starting);
    for (const child of children) expect(await child.line()).toBe("ready");
    for (const child of children) child.process.stdin.write("go\n");
    const told = await Promise.all(children.map(async (child) => JSON.parse(await child.line()) as Told));
    for (const child of children) expect(await child.ended, child.errors()).toBe(0);

    const counts = sum(told.map((each) => each.counts));
    report({
      what: "four processes, one stream",
      seed,
      seconds: secondsSince(start),
      counts: { deliveries: stream.length, ...counts },
    });
    expect(told.flatMap(({ unhandled }) => unhandled)).toEqual([]);
    expect(
      Object.keys(counts).filter((each) => !/^(200 (applied|duplicate)|503 failed)$/.test(each)),
    ).toEqual([]);
    expect(counts["200 applied"]).toBe(distinct.length);
    expect(counts["200 duplicate"]).toBe(stream.length - distinct.length);
    await checkRows(schema, distinct, stream);
  },
);

interface Told {
  readonly counts: Record<string, number>;
  readonly unhandled: string[];
}

interface Sent {
  readonly arrival: ScheduledEvent;
  readonly webhookId: string;
}

/** What was stored is what the memory model makes of the same events in their own order. */
async function checkRows(schema: string, distinct: readonly Sent[], stream: readonly Sent[]): Promise<void> {
  const store = postgres({ connectionString: postgresUrl, schema });
  await store.open({ migrate: "check", logger: silentLogger, clock: arrivalClock() });
  const model = await openReceiving(createMemoryStore());
  const received = await asReceived(
    store,
    distinct.map(({ arrival }) => arrival),
  );
  const all = received.map((arrival, index) => ({
    arrival,
    webhookId: distinct[index]?.webhookId ?? "",
    atMs: arrival.firstMs,
  }));
  const batches = Array.from({ length: Math.ceil(all.length / 200) }, (_, index) =>
    all.slice(index * 200, index * 200 + 200),
  );
  await model.deliver({ batches });
  expect(await mirroredRows(store)).toEqual(await mirroredRows(model.store));
  const attempts = await attemptsByDigest(store);
  await store.close();
  for (const { arrival } of distinct) {
    const { digest } = arrival.sent;
    const sent = stream.filter((each) => each.arrival.sent.digest === digest).length;
    expect(attempts.get(digest)).toBe(sent);
  }
}

function distinctEvents(seed: number): Sent[] {
  const told = fc.sample(history({ manner: "wild" }), { numRuns: contracts * 2, seed });
  const lives = new Map(told.map((each) => [each.life.contractId, each]));
  const events = [...lives.values()]
    .slice(0, contracts)
    .flatMap(({ sent }) => sent)
    .map((sent): Sent => ({
      arrival: { kind: "event", sent, firstMs: 0 },
      webhookId: `wh-${sent.payloadId}`,
    }));
  return [...new Map(events.map((each) => [each.arrival.sent.digest, each])).values()];
}

/** Every event at least once, copies of them up to the count, all in random order. */
function duplicated(distinct: readonly Sent[], random: Random): Sent[] {
  const stream = [...distinct];
  while (stream.length < deliveries) stream.push(distinct[random.below(distinct.length)] as Sent);
  const keyed = stream.map((sent) => ({ sent, key: random.next() }));
  return keyed.sort((a, b) => a.key - b.key).map(({ sent }) => sent);
}

function deal(stream: readonly Sent[]): Sent[][] {
  return Array.from({ length: processes }, (_, index) =>
    stream.filter((_sent, at) => at % processes === index),
  );
}

function sum(all: readonly Record<string, number>[]): Record<string, number> {
  const total: Record<string, number> = {};
  for (const counts of all)
    for (const [name, count] of Object.entries(counts)) total[name] = (total[name] ?? 0) + count;
  return total;
}
