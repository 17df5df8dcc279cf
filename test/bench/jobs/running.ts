/** How many jobs a process runs, and how much those that wait slow it down. */
import type { Mirror } from "../../../src/index.ts";
import { makeDeliveries, receiveAll } from "../deliveries.ts";
import {
  atLeast,
  atMost,
  median,
  microseconds,
  microsecondsEach,
  perSecond,
  type Figure,
} from "../stopwatch.ts";
import { concurrency, firstOf, openMirror, perRound, rounds, type Place } from "./mirrors.ts";

export interface Running {
  readonly figure: Figure;
  /** Microseconds of a job. */
  readonly each: number;
}

/** Handlers that do nothing, against the same by hand. */
export async function benchRunning(
  { where, open }: Place,
  byHand: (name: string) => Promise<void>,
): Promise<Running> {
  const mirror = await openHearing(open("running"));
  const hand = await openHearing(open("byhand"));
  const taken = { ours: [] as number[], hand: [] as number[] };
  for (let round = 0; round < rounds; round++) {
    await receiveAll(mirror, makeDeliveries(perRound, firstOf(round)));
    await receiveAll(hand, makeDeliveries(perRound, firstOf(round)));
    taken.ours.push(await microsecondsEach(perRound, () => mirror.jobs.runOnce()));
    taken.hand.push(await microsecondsEach(perRound, () => byHand("byhand")));
  }
  await Promise.all([mirror.close(), hand.close()]);
  const [each, they] = [median(taken.ours), median(taken.hand)];
  const figure = atLeast(0.5, {
    what: `jobs run, ${concurrency} at once, ${where}`,
    measured: perSecond(each),
    against: `by hand, ${concurrency} at once, prepared: ${perSecond(they)}`,
    ratio: they / each,
  });
  return { figure, each };
}

export const waitingJobs = 100_000;

/** The same with many jobs that wait: of another handler, for their time, and behind one that is tried again later. */
export async function benchWaiting(
  { where, open }: Place,
  fill: (name: string) => Promise<void>,
): Promise<Figure[]> {
  const few = await openHearing(open("few"));
  const many = await openHearing(open("many"));
  await fill("many");
  const taken = { receive: [[], []] as number[][], run: [[], []] as number[][] };
  for (let round = 0; round < rounds; round++)
    for (const [index, mirror] of [few, many].entries()) {
      const deliveries = [...makeDeliveries(perRound, firstOf(round))];
      taken.receive[index]?.push(await microsecondsEach(perRound, () => receiveAll(mirror, deliveries)));
      taken.run[index]?.push(await microsecondsEach(perRound, () => mirror.jobs.runOnce()));
    }
  await Promise.all([few.close(), many.close()]);
  return (["receive", "run"] as const).map((what) => {
    const [without = 0, within = 0] = taken[what].map(median);
    return atMost(1.5, {
      what: `${what === "run" ? "a job run" : "mirror.receive"} with ${waitingJobs.toLocaleString("en")} jobs that wait, ${where}`,
      measured: microseconds(within),
      against: `with none: ${microseconds(without)}`,
      ratio: within / without,
    });
  });
}

/** Half of another handler and due, a quarter due in a year, a quarter behind one that is. */
export function fillJobs(table: string, series: string): string[] {
  const later = "'2100-01-01T00:00:00.000Z'";
  const insert = (values: string, count: number, where = ""): string =>
    `insert into ${table} (handler, contract_id, job_key, state, attempts, next_attempt_at, lost, claims, created_at)
     select ${values}, 0, 0, '2026-01-01T00:00:00.000Z' from ${series.replace("$count", String(count))} ${where}`;
  return [
    insert("'other', 'C' || n, 'o' || n, 'due', 0, '2026-01-01T00:00:00.000Z'", waitingJobs / 2),
    insert(`'all', 'F' || n, 'f' || n, 'due', 1, ${later}`, waitingJobs / 4),
    insert(
      `'all', 'LINE', 'l' || n, case n when 1 then 'due' else 'waiting' end, 1, ${later}`,
      waitingJobs / 4,
    ),
  ];
}

async function openHearing(store: Parameters<typeof openMirror>[0]): Promise<Mirror> {
  const mirror = await openMirror(store, { jobs: { run: false, concurrency } });
  mirror.on("*", () => undefined, { name: "all" });
  await mirror.idle();
  return mirror;
}
