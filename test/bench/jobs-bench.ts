/** What handlers cost a delivery, and how many jobs a process runs, on both stores. */
import Database from "better-sqlite3";
import { join } from "node:path";
import { createMirror, type Mirror, type MirrorOptions } from "../../src/index.ts";
import { postgres } from "../../src/postgres.ts";
import { sqlite } from "../../src/sqlite.ts";
import type { Store } from "../../src/store/store.ts";
import { createServerOfOurs } from "../support/postgres-server.ts";
import { makeDeliveries, receiveAll, secret } from "./deliveries.ts";
import {
  atLeast,
  atMost,
  median,
  microseconds,
  microsecondsEach,
  perSecond,
  withFolder,
  type Figure,
} from "./stopwatch.ts";

const rounds = 5;
const perRound = 2500;
const concurrency = 8;

export async function benchJobs(): Promise<Figure[]> {
  const server = await createServerOfOurs({ fsync: true });
  try {
    return await withFolder(async (folder) => {
      const file = (name: string): string => join(folder, `${name}.db`);
      return [
        ...(await benchReceiving("SQLite", (name) => sqlite(file(name)))),
        ...(await benchReceiving("Postgres", (name) =>
          postgres({ connectionString: server.url, schema: name }),
        )),
        ...(await benchRunning(file("running"), file("by-hand"))),
      ];
    });
  } finally {
    await server.remove();
  }
}

/** Five handlers, of which one hears of each delivery, run elsewhere. */
async function benchReceiving(where: string, open: (name: string) => Store): Promise<Figure[]> {
  const plain = await openMirror(open("plain"));
  const heard = await openMirror(open("heard"), { jobs: { run: false } });
  heard.on("*", () => undefined, { name: "all" });
  for (const name of ["a", "b", "c", "d"]) heard.on("odd.event", () => undefined, { name });
  await heard.idle();
  const taken = { plain: [] as number[], heard: [] as number[] };
  for (let round = 0; round < rounds; round++) {
    const [one, other] = [0, 1].map(() => [...makeDeliveries(perRound, (round * perRound) / 5)]);
    taken.plain.push(await microsecondsEach(perRound, () => receiveAll(plain, one ?? [])));
    taken.heard.push(await microsecondsEach(perRound, () => receiveAll(heard, other ?? [])));
  }
  await Promise.all([plain.close(), heard.close()]);
  const [without, with5] = [median(taken.plain), median(taken.heard)];
  return [
    atMost(1.3, {
      what: `mirror.receive with five handlers, one of which hears, ${where}`,
      measured: microseconds(with5),
      against: `without a handler: ${microseconds(without)}`,
      ratio: with5 / without,
    }),
  ];
}

/** Handlers that do nothing, against the same by hand: claim, read event and contract, arm signal and time-out, complete. */
async function benchRunning(ours: string, byHand: string): Promise<Figure[]> {
  const mirror = await openMirror(sqlite(ours), { jobs: { run: false, concurrency } });
  const hand = await openMirror(sqlite(byHand), { jobs: { run: false } });
  for (const each of [mirror, hand]) each.on("*", () => undefined, { name: "all" });
  await Promise.all([mirror.idle(), hand.idle()]);
  const taken = { ours: [] as number[], hand: [] as number[] };
  for (let round = 0; round < rounds; round++) {
    const first = (round * perRound) / 5;
    await receiveAll(mirror, makeDeliveries(perRound, first));
    await receiveAll(hand, makeDeliveries(perRound, first));
    taken.ours.push(await microsecondsEach(perRound, () => mirror.jobs.runOnce()));
    taken.hand.push(await microsecondsEach(perRound, () => runByHand(byHand)));
  }
  await Promise.all([mirror.close(), hand.close()]);
  const [we, they] = [median(taken.ours), median(taken.hand)];
  return [
    atLeast(0.5, {
      what: `jobs run, ${concurrency} at once, SQLite`,
      measured: perSecond(we),
      against: `by hand, ${concurrency} at once, prepared: ${perSecond(they)}`,
      ratio: they / we,
    }),
  ];
}

async function runByHand(path: string): Promise<void> {
  const database = new Database(path);
  database.pragma("synchronous = full");
  const claim = database.prepare(
    `update escrow_jobs set state = 'running', worker_id = 'hand', attempts = attempts + 1
     where seq in (select seq from escrow_jobs where handler = 'all' and lost = 0 and state = 'due' order by next_attempt_at, seq limit ?)
     returning seq, contract_id, content_key`,
  );
  const event = database.prepare("select * from escrow_deliveries where content_key = ?");
  const contract = database.prepare("select * from escrow_contracts where contract_id = ?");
  const done = database.prepare("update escrow_jobs set state = 'done', worker_id = null where seq = ?");
  const promote = database.prepare(
    `update escrow_jobs set state = 'due' where state = 'waiting' and seq = (
       select seq from escrow_jobs where handler = 'all' and contract_id = ? and state in ('waiting', 'due', 'running') order by seq limit 1)`,
  );
  let jobs: { seq: number; contract_id: string; content_key: Buffer }[] = [];
  const turn = database.transaction(() => {
    for (const { seq, contract_id } of jobs) {
      done.run(seq);
      promote.run(contract_id);
    }
    jobs = claim.all(concurrency) as typeof jobs;
    for (const { content_key, contract_id } of jobs) {
      event.get(content_key);
      contract.get(contract_id);
    }
  });
  for (;;) {
    turn.immediate();
    if (jobs.length === 0) break;
    await Promise.all(jobs.map(runOne));
  }
  database.close();
}

async function runOne(): Promise<void> {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(), 60_000);
  await Promise.resolve(controller.signal);
  clearTimeout(timer);
}

function openMirror(store: Store, options: Partial<MirrorOptions> = {}): Promise<Mirror> {
  return createMirror({ store, webhook: { secrets: secret }, ...options });
}
