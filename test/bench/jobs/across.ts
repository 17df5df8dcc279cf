/** What is measured of a process that runs handlers while another receives: how soon it wakes, and what it uses while idle. */
import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { build } from "esbuild";
import { makeDeliveries } from "../deliveries.ts";
import { atMost, type Figure } from "../stopwatch.ts";
import { openMirror } from "./mirrors.ts";
import type { Store } from "../../../src/store/store.ts";

export interface Across {
  readonly where: string;
  /** A file, or an address. */
  readonly place: string;
  readonly open: () => Store;
  readonly how: "look" | "listen";
  readonly wakeMs: number;
}

const deliveries = 60;
const idleMs = 10_000;
const idleShare = 0.003;

export async function benchAcross({ where, place, open, how, wakeMs }: Across): Promise<Figure[]> {
  const worker = fork(await buildWorker(), [place, how], { execArgv: [] });
  await once(worker, "message");
  const receiver = await openMirror(open(), { jobs: { run: false } });
  // It hears of nothing until it has caught up and, where it does, listens.
  await sleep(1000);
  const late = await latenessOf(worker, receiver);
  const used = await idleShareOf(worker);
  worker.disconnect();
  await Promise.all([once(worker, "exit"), receiver.close()]);
  const p95 = late.sort((a, b) => a - b)[Math.floor(late.length * 0.95)] ?? Number.NaN;
  return [
    atMost(1, {
      what: `a handler runs after another process has committed, ${where}, p95`,
      measured: `${p95.toFixed(1)} ms`,
      against: `${wakeMs} ms`,
      ratio: p95 / wakeMs,
    }),
    atMost(1, {
      what: `a process with a handler that has nothing to do, ${where}`,
      measured: `${(used * 100).toFixed(2)} % of a core`,
      against: `${idleShare * 100} %`,
      ratio: used / idleShare,
    }),
  ];
}

async function latenessOf(worker: ChildProcess, receiver: Awaited<ReturnType<typeof openMirror>>) {
  const late: number[] = [];
  for (const request of makeDeliveries(deliveries)) {
    const ran = once(worker, "message") as Promise<[{ at: number }]>;
    await receiver.receive(request);
    const committedAt = performance.timeOrigin + performance.now();
    const [{ at }] = await ran;
    late.push(Math.max(0, at - committedAt));
    await sleep(Math.random() * 100);
  }
  return late;
}

/** Of a core. */
async function idleShareOf(worker: ChildProcess): Promise<number> {
  // What was compiled and collected for the work before is not idle.
  await sleep(2000);
  const before = await usageOf(worker);
  await sleep(idleMs);
  const after = await usageOf(worker);
  return (after.usedMs - before.usedMs) / (after.at - before.at);
}

async function usageOf(worker: ChildProcess): Promise<{ usedMs: number; at: number }> {
  const answer = once(worker, "message") as Promise<[{ usedMs: number; at: number }]>;
  worker.send("usage");
  return (await answer)[0];
}

async function buildWorker(): Promise<string> {
  const outfile = ".tmp/bench-jobs-worker.mjs";
  const entryPoints = ["test/bench/jobs/worker.ts"];
  await build({ entryPoints, outfile, bundle: true, platform: "node", format: "esm", packages: "external" });
  return outfile;
}
