/**
 * What handlers are promised, through every crash: a row in the delivery's transaction exists exactly once, every job runs at
 * least once, and the order of each contract holds.
 */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { JobRow } from "../../src/store/tables/handlers.ts";
import { eventBody } from "../support/delivery.ts";
import { signBody } from "../../src/signature/sign.ts";
import { simulatedDeliveries } from "./deliveries.ts";
import { buildChild, secret, startReceiver, type Delivery, type Receiver } from "./processes.ts";
import { createRandom, type Random } from "./random.ts";
import { chooseSeed, report, secondsSince } from "./report.ts";
import { databases, readAll, type Site } from "./site.ts";

const kills = Math.ceil(Number(process.env["KILLS"] ?? 20) / 3);
const pauses = Math.ceil(Number(process.env["KILLS"] ?? 20) / 100);
const folder = mkdtempSync(join(tmpdir(), "escrow-mirror-handlers-"));
let child: string;

beforeAll(async () => {
  child = await buildChild("child-handlers");
}, 120_000);

afterAll(() => {
  rmSync(folder, { recursive: true });
});

const start = (site: Site, role: "both" | "patient" | "receive" | "poison" | "slow"): Promise<Receiver> =>
  startReceiver(child, site.database, site.trace, role, site.table);

it.each(databases)(
  "on %s two processes that are killed at any instant lose no job, double no row, and keep each contract's order",
  { timeout: 120_000 + kills * 10_000 },
  async (where, open) => {
    const seed = chooseSeed();
    const began = performance.now();
    const site = await open(folder);
    const random = createRandom(seed);
    const queue = simulatedDeliveries(kills * 4, seed);
    const sent = queue.length;
    const alive = [await start(site, "both"), await start(site, "both")];
    for (let kill = 0; kill < kills; kill++) {
      const victim = random.below(2);
      const share = Math.ceil(sent / (kills + 1));
      await Promise.all([bringSome(alive, queue, share, random), dieSoon(alive[victim], random)]);
      alive[victim] = await start(site, random.next() < 0.3 ? "receive" : "both");
    }
    while (queue.length > 0) await bringSome(alive, queue, queue.length, random);
    const last = await start(site, "both");
    expect(await last.post({ headers: {}, body: "" }, "/idle")).toMatchObject({ outcome: "idle" });
    await Promise.all([...alive, last].map((each) => each.kill()));

    const { applied, jobs } = await readAll(site);
    const traced = readTrace(site);
    report({
      what: `SIGKILL of processes that run handlers on ${where}`,
      seed,
      seconds: secondsSince(began),
      counts: { kills, deliveries: applied.length, "handler runs": traced.length },
    });
    expect((await site.ledger()).sort()).toEqual(applied.map(({ webhookId }) => webhookId).sort());
    expect(jobs.filter(({ state }) => state !== "done")).toEqual([]);
    expect(new Set(traced.map(({ webhookId }) => webhookId))).toEqual(
      new Set(applied.map(({ webhookId }) => webhookId)),
    );
    expect(outOfOrder(jobs, traced)).toEqual([]);
  },
);

it.each(databases)(
  "on %s nothing runs twice where nothing is killed, and a process that only receives loses no job",
  { timeout: 120_000 },
  async (_, open) => {
    const site = await open(folder);
    const queue = simulatedDeliveries(12, chooseSeed());
    const alive = [await start(site, "patient"), await start(site, "receive"), await start(site, "patient")];
    await bringSome(alive, queue, queue.length, createRandom(1));
    expect(await alive[0]?.post({ headers: {}, body: "" }, "/idle")).toMatchObject({ outcome: "idle" });
    expect(await alive[2]?.post({ headers: {}, body: "" }, "/idle")).toMatchObject({ outcome: "idle" });
    await Promise.all(alive.map((each) => each.kill()));
    const { applied, jobs } = await readAll(site);
    const ids = applied.map(({ webhookId }) => webhookId).sort();
    expect(
      readTrace(site)
        .map(({ webhookId }) => webhookId)
        .sort(),
    ).toEqual(ids);
    expect((await site.ledger()).sort()).toEqual(ids);
    expect(outOfOrder(jobs, readTrace(site))).toEqual([]);
  },
);

it.each(databases)(
  "on %s a job that ends its process is dead after its attempts, and none that was taken with it",
  { timeout: 120_000 },
  async (_, open) => {
    const site = await open(folder);
    const receiver = await start(site, "receive");
    const registering = await start(site, "both");
    await registering.post({ headers: {}, body: "" }, "/idle");
    await registering.kill();
    const ids = ["a", "b", "poison", "c", "d"];
    for (const id of ids) await receiver.post(created(id));
    for (let life = 0; life < 40; life++) {
      const running = await start(site, "poison");
      const answer = await running.post({ headers: {}, body: "" }, "/idle");
      await running.kill();
      if (answer?.outcome === "idle") break;
    }
    await receiver.kill();
    const { jobs } = await readAll(site);
    const fates = jobs
      .filter(({ handler }) => handler === "trace")
      .map(({ contractId, state }) => `${contractId} ${state}`);
    expect(fates.sort()).toEqual(ids.map((id) => `CNT-${id} ${id === "poison" ? "dead" : "done"}`).sort());
  },
);

it.each(databases)(
  "on %s a process that is paused past its lease completes nothing twice",
  { timeout: 120_000 + pauses * 10_000 },
  async (where, open) => {
    const seed = chooseSeed();
    const began = performance.now();
    const site = await open(folder);
    for (let pause = 0; pause < pauses; pause++) {
      const queue = simulatedDeliveries(4, seed + pause);
      const paused = await start(site, "slow");
      await bringSome([paused], queue, queue.length, createRandom(2));
      await pauseOutside(site, paused);
      const other = await start(site, "both");
      await new Promise((resolve) => setTimeout(resolve, 1500));
      paused.signal("SIGCONT");
      expect(await other.post({ headers: {}, body: "" }, "/idle")).toMatchObject({ outcome: "idle" });
      await Promise.all([paused.kill(), other.kill()]);
    }
    report({
      what: `SIGSTOP past the lease, then SIGCONT, on ${where}`,
      seed,
      seconds: secondsSince(began),
      counts: { pauses },
    });
    const { applied, jobs } = await readAll(site);
    expect(jobs.filter(({ state }) => state !== "done")).toEqual([]);
    expect((await site.ledger()).sort()).toEqual(applied.map(({ webhookId }) => webhookId).sort());
    expect(outOfOrder(jobs, readTrace(site))).toEqual([]);
  },
);

/** Stops a process where it has no transaction open, in which it would hold all others up. */
async function pauseOutside(site: Site, running: Receiver): Promise<void> {
  for (;;) {
    running.signal("SIGSTOP");
    await new Promise((resolve) => setTimeout(resolve, 50));
    if (!(await site.isWriting())) return;
    running.signal("SIGCONT");
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

function created(id: string): Delivery {
  const body = eventBody("contract.created", { id, seconds: 0, contractId: `CNT-${id}` });
  return { body, headers: signBody({ secret, timestamp: 0, body, webhookId: id }) };
}

/** Brings deliveries to whoever is alive, many at once; what is not answered 200 comes again. */
async function bringSome(
  alive: readonly Receiver[],
  queue: Delivery[],
  count: number,
  random: Random,
): Promise<void> {
  let left = count;
  const send = async (): Promise<void> => {
    while (left > 0 && queue.length > 0) {
      left--;
      const delivery = queue.shift() as Delivery;
      const answer = await alive[random.below(alive.length)]?.post(delivery);
      if (answer?.status !== 200) queue.push(delivery);
    }
  };
  await Promise.all(Array.from({ length: 16 }, send));
}

async function dieSoon(victim: Receiver | undefined, random: Random): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, random.next() * 120));
  await victim?.kill();
}

interface Line {
  readonly webhookId: string;
  readonly contractId: string;
}

function readTrace(site: Site): Line[] {
  const lines = readFileSync(site.trace, "utf8").split("\n").slice(0, -1);
  return lines.map((line) => {
    const [webhookId = "", contractId = ""] = line.split("\t");
    return { webhookId, contractId };
  });
}

/** Contracts whose events were first handled in another order than their line's. */
function outOfOrder(jobs: readonly JobRow[], traced: readonly Line[]): string[] {
  const first = new Map<string, Set<string>>();
  for (const { webhookId, contractId } of traced)
    first.set(contractId, (first.get(contractId) ?? new Set()).add(webhookId));
  const line = jobs.filter(({ handler }) => handler === "trace");
  return [...first].flatMap(([contractId, handled]) => {
    const owed = line.filter((job) => job.contractId === contractId).map(({ webhookId }) => webhookId);
    const isInOrder = contractId === "" || [...handled].join() === owed.join();
    return isInOrder ? [] : [`${contractId}: ${[...handled].join()} instead of ${owed.join()}`];
  });
}
