/**
 * Several processes do with one queue whatever an app may do, at random: retry, register again, remove, run once, close. No job
 * is lost or stuck, none runs twice at once without a cause, and each contract's order holds.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { sql } from "kysely";
import { afterAll, beforeAll, expect, it } from "vitest";
import { PermanentError } from "../../src/handlers/errors.ts";
import { createMirror } from "../../src/mirror/create-mirror.ts";
import { groupBy } from "../../src/shared/group-by.ts";
import { silentLogger } from "../../src/shared/logger.ts";
import type { JobRow } from "../../src/store/tables/handlers.ts";
import { openDatabase } from "./database.ts";
import { buildChild, secret } from "./processes.ts";
import { createRandom, type Random } from "./random.ts";
import { chooseSeed, report, secondsSince } from "./report.ts";
import { databases, readAll, type Site } from "./site.ts";

/** How long the processes of one test go on. */
const lifeMs = Math.max(3000, Number(process.env["KILLS"] ?? 20) * 150);
const folder = mkdtempSync(join(tmpdir(), "escrow-mirror-queue-"));
let child: string;

beforeAll(async () => {
  child = await buildChild("child-queue");
}, 120_000);

afterAll(() => {
  rmSync(folder, { recursive: true });
});

interface Life {
  readonly process: ChildProcess;
  readonly ended: Promise<unknown>;
}

async function start(site: Site, role: "calm" | "wild", seed: number, ms: number): Promise<Life> {
  const values = [site.database, secret, site.trace, role, site.table, String(seed), String(ms)];
  const life = spawn(process.execPath, [child, ...values], { stdio: ["ignore", "pipe", "inherit"] });
  const ended = once(life, "exit");
  await Promise.race([once(life.stdout, "data"), ended]);
  return { process: life, ended };
}

it.each(databases)(
  "on %s no job runs twice at once or is lost, whatever the processes retry, remove, register and close",
  { timeout: 180_000 + lifeMs },
  async (where, open) => {
    const seed = chooseSeed();
    const began = performance.now();
    const site = await open(folder);
    const lives = await Promise.all([1, 2, 3].map((n) => start(site, "calm", seed + n, lifeMs)));
    await Promise.all(lives.map(({ ended }) => ended));
    expect(lives.map((life) => life.process.exitCode)).toEqual([0, 0, 0]);
    await finish(site);
    const lines = readTrace(site);
    tell(where, "retried, removed and registered again at random", seed, began, lines);
    await checkAll(site, lines);
    expect(overlapping(lines)).toEqual([]);
    const done = lines.filter(({ what }) => what === "done").map(({ webhookId }) => webhookId);
    expect(done.length).toBe(new Set(done).size);
  },
);

it.each(databases)(
  "on %s no job is lost or stuck where processes are killed, paused past their lease, and blocked",
  { timeout: 240_000 + lifeMs },
  async (where, open) => {
    const seed = chooseSeed();
    const began = performance.now();
    const site = await open(folder);
    const random = createRandom(seed);
    await Promise.all([1, 2, 3].map((n) => disturb(site, random, seed + n * 1000, began + lifeMs)));
    await finish(site);
    const lines = readTrace(site);
    tell(where, "killed, paused and blocked at random", seed, began, lines);
    await checkAll(site, lines);
  },
);

/** One process after the other, each killed at some time, and some of them paused before. */
async function disturb(site: Site, random: Random, seed: number, untilMs: number): Promise<void> {
  for (let n = 0; performance.now() < untilMs; n++) {
    const life = await start(site, "wild", seed + n, 600_000);
    await sleep(random.below(random.below(3) === 0 ? 50 : 3000));
    if (random.below(3) === 0) {
      life.process.kill("SIGSTOP");
      await sleep(1500);
      life.process.kill("SIGCONT");
      await sleep(random.below(3) === 0 ? 0 : random.below(800));
    }
    life.process.kill("SIGKILL");
    await life.ended;
  }
}

/** A last process runs what is still owed. */
async function finish(site: Site): Promise<void> {
  const mirror = await createMirror({
    store: openDatabase(site.database),
    webhook: { secrets: secret },
    logger: silentLogger,
    jobs: { leaseMs: 1000, backoffMs: () => 20, maxAttempts: 1000 },
  });
  mirror.on("*", () => undefined, { name: "extra" });
  mirror.on(
    "*",
    ({ webhookId }) => {
      if (webhookId.includes("poison")) throw new PermanentError("always");
    },
    { name: "trace" },
  );
  mirror.inTransaction(
    "*",
    async ({ webhookId }, { trx }) => {
      await sql`insert into ${sql.table(site.table)} (webhook) values (${webhookId})`.execute(trx);
    },
    { name: "ledger" },
  );
  for (;;) {
    await mirror.idle();
    const { due, waiting, running } = (await mirror.health()).jobs;
    if (due + waiting + running === 0) break;
    await sleep(20);
  }
  await mirror.close();
}

async function checkAll(site: Site, lines: readonly Line[]): Promise<void> {
  const { applied: deliveries, jobs } = await readAll(site);
  const applied = deliveries.map(({ webhookId }) => webhookId);
  const odd = lines.filter(({ what }) => what.startsWith("odd"));
  expect(odd.map(({ what }) => what)).toEqual([]);
  expect(sentIn(lines).filter((webhookId) => !applied.includes(webhookId))).toEqual([]);
  expect((await site.ledger()).sort()).toEqual([...applied].sort());
  const traced = jobs.filter(({ handler }) => handler === "trace");
  expect(traced.map(({ webhookId }) => String(webhookId)).sort()).toEqual([...applied].sort());
  const wrong = jobs.filter(
    ({ state, handler, webhookId }) =>
      state !== (handler === "trace" && webhookId?.includes("poison") === true ? "dead" : "done"),
  );
  expect(wrong).toEqual([]);
  expect(outOfOrder(traced, lines)).toEqual([]);
}

const sentIn = (lines: readonly Line[]): string[] =>
  lines.filter(({ what }) => what === "sent").map(({ webhookId }) => webhookId);

interface Line {
  readonly what: string;
  readonly webhookId: string;
  readonly contractId: string;
  readonly at: bigint;
}

/** In the order of their times: the clock is one for all processes. */
function readTrace(site: Site): Line[] {
  const texts = readFileSync(site.trace, "utf8").split("\n").slice(0, -1);
  return texts
    .map((text) => {
      const [what = "", webhookId = "", contractId = "", at = "0"] = text.split("\t");
      return { what, webhookId, contractId, at: BigInt(at) };
    })
    .sort((a, b) => (a.at < b.at ? -1 : 1));
}

/** Runs that began while another of their contract went on. */
function overlapping(lines: readonly Line[]): string[] {
  const running = new Map<string, string>();
  return lines
    .filter(({ what }) => ["start", "done", "fail"].includes(what))
    .flatMap(({ what, webhookId, contractId }) => {
      const other = running.get(contractId);
      if (what === "start") running.set(contractId, webhookId);
      else running.delete(contractId);
      return what === "start" && other !== undefined ? [`${webhookId} beside ${other}`] : [];
    });
}

/** Contracts whose jobs began in another order than their line's. */
function outOfOrder(jobs: readonly JobRow[], lines: readonly Line[]): string[] {
  const began = groupBy(
    lines.filter(({ what }) => what === "start"),
    ({ contractId }) => contractId,
  );
  return [...began].flatMap(([contractId, starts]) => {
    const first = [...new Set(starts.map(({ webhookId }) => webhookId))];
    const line = jobs.filter((job) => job.contractId === contractId).map(({ webhookId }) => webhookId);
    const known = line.filter((webhookId) => first.includes(webhookId ?? ""));
    return first.join() === known.join() ? [] : [`${contractId}: ${first.join()} instead of ${known.join()}`];
  });
}

function tell(where: string, what: string, seed: number, began: number, lines: readonly Line[]): void {
  const runs = lines.filter((line) => line.what === "start").length;
  const counts = { deliveries: sentIn(lines).length, "handler runs": runs };
  report({ what: `processes ${what}, on ${where}`, seed, seconds: secondsSince(began), counts });
}
