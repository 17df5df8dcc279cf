/** The signing secret is changed in the middle of a stream: nothing is lost, and nothing authentic is answered 401. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createClient } from "../../src/client.ts";
import { createMirror } from "../../src/mirror/create-mirror.ts";
import { silentLogger } from "../../src/shared/logger.ts";
import { systemClock } from "../../src/shared/clock.ts";
import { openDatabase } from "../simulation/database.ts";
import { buildChild } from "../simulation/processes.ts";
import { createRandom } from "../simulation/random.ts";
import { chooseSeed, report, secondsSince } from "../simulation/report.ts";
import { freshSchema, postgresUrl } from "../support/postgres.ts";
import { openStage, startProcess, type Process, type Stage } from "./processes.ts";

const folder = mkdtempSync(join(tmpdir(), "escrow-mirror-rotation-"));
const isSoak = process.env["SOAK"] !== undefined;
let child: string;

beforeAll(async () => {
  child = await buildChild("../healing/child");
}, 120_000);

afterAll(() => {
  rmSync(folder, { recursive: true });
});

const databases: readonly (readonly [string, () => string])[] = [
  ["an SQLite file", () => join(folder, `${Math.random()}.db`)],
  ["Postgres", () => `${postgresUrl}#${freshSchema()}`],
];

const streamed = isSoak ? 2000 : 200;

async function openTwo(database: string, options: Parameters<typeof openStage>[1] = {}): Promise<Stage> {
  const stage = await openStage(join(folder, `${Math.random()}.secret`), options);
  const settings = { database, secretFile: stage.secretFile };
  // The second has no client: it knows of the new secret by its function alone.
  stage.behind.push(await startProcess(child, { ...settings, api: stage.api, saveMs: 500 }));
  stage.behind.push(await startProcess(child, settings));
  return stage;
}

/** Makes `count` deliveries, and the last third of them once `midway` is over, which begins after the first. */
async function stream({ sandbox }: Stage, count: number, midway: () => Promise<unknown>): Promise<void> {
  const third = Math.ceil(count / 3);
  await make(sandbox, third, 0);
  const going = midway();
  // Longer than a process waits between two looks at the rotation: each step of it meets deliveries.
  await make(sandbox, third, 3000 / third);
  await going;
  await make(sandbox, count - 2 * third, 0);
}

async function make(sandbox: Stage["sandbox"], count: number, waitMs: number): Promise<void> {
  for (let made = 0; made < count; made++) {
    await sandbox.createContract();
    await new Promise((resolve) => setTimeout(resolve, waitMs));
  }
}

/** Every contract of the service is in the mirror, and no delivery has failed or was answered 401. */
async function expectAll(stage: Stage, database: string): Promise<void> {
  await stage.sandbox.deliveries.drained();
  const failed = await stage.sandbox.deliveries.list({ state: "failed" });
  expect(failed.map(({ attempts }) => attempts.at(-1)?.httpStatus)).toEqual([]);
  expect(stage.answered.get(401)).toBeUndefined();
  const store = openDatabase(database);
  await store.open({ migrate: "check", logger: silentLogger, clock: systemClock });
  const stored = await store.read((reader) => reader.find("contracts"));
  const [rotation] = await store.read((reader) => reader.find("rotations"));
  await store.close();
  const ids = (await stage.sandbox.contracts.list()).map(({ contractId }) => contractId);
  expect(stored.map(({ contractId }) => contractId).sort()).toEqual(ids.sort());
  expect(rotation).toMatchObject({
    savedAt: expect.any(String) as string,
    closedAt: expect.any(String) as string,
  });
}

it.each(databases)(
  "a rotation in the middle of a stream to two processes on %s loses nothing and answers no 401",
  { timeout: 300_000 },
  async (where, place) => {
    const start = performance.now();
    const database = place();
    const stage = await openTwo(database);
    const before = stage.sandbox.webhookSecret;
    await stream(stage, streamed, async () => expect(await stage.behind[0]?.rotate()).toBe("done"));
    await expectAll(stage, database);
    expect(stage.sandbox.webhookSecret).not.toBe(before);
    expect(readFileSync(stage.secretFile, "utf8")).toBe(stage.sandbox.webhookSecret);
    const counts = {
      deliveries: (await stage.sandbox.deliveries.list()).length,
      "answers 503": stage.answered.get(503) ?? 0,
    };
    expect(counts["answers 503"]).toBeGreaterThan(0);
    report({ what: `rotation in a stream on ${where}`, seed: 0, seconds: secondsSince(start), counts });
    await stage.close();
  },
);

it.each(databases)(
  "a rotation in a stream on %s whose answer is cut off loses nothing: the subscription is read for the secret",
  { timeout: 300_000 },
  async (where, place) => {
    const start = performance.now();
    const database = place();
    const stage = await openTwo(database);
    const { sandbox, secretFile } = stage;
    const client = createClient(sandbox);
    const regenerateSecret = async () => {
      sandbox.faults.set({ cutConnection: 1 });
      try {
        return await client.webhooks.regenerateSecret();
      } finally {
        sandbox.faults.clear();
      }
    };
    // A third process, as the command line is one.
    const mirror = await createMirror({
      store: openDatabase(database),
      client: { ...client, webhooks: { ...client.webhooks, regenerateSecret } },
      logger: silentLogger,
      jobs: { run: false },
    });
    await stream(stage, streamed, () =>
      mirror.rotateSecret({ save: (secret) => writeFileSync(secretFile, secret) }),
    );
    await mirror.close();
    await expectAll(stage, database);
    expect(sandbox.faults.counts().cutConnection).toBe(1);
    expect(readFileSync(secretFile, "utf8")).toBe(sandbox.webhookSecret);
    const counts = { deliveries: streamed, "answers 503": stage.answered.get(503) ?? 0 };
    report({ what: `rotation with a cut answer on ${where}`, seed: 0, seconds: secondsSince(start), counts });
    await stage.close();
  },
);

/** On each store. */
const kills = isSoak ? 100 : 10;
/** More than a rotation has points between its steps. */
const stepsMax = 10;

it.each(databases)(
  "a rotation on %s that is killed between any two steps loses nothing and answers no 401",
  { timeout: 120_000 + kills * 20_000 },
  async (where, place) => {
    const start = performance.now();
    const seed = chooseSeed();
    const random = createRandom(seed);
    const database = place();
    const stage = await openTwo(database, { retryDelaysMs: Array.from({ length: 1000 }, () => 150) });
    const settings = { database, secretFile: stage.secretFile, api: stage.api };
    const diedAfter = new Map<number, number>();
    const before = stage.sandbox.webhookSecret;
    let deaths = 0;
    let finished = 0;
    while (deaths < kills) {
      const dieAfter = 1 + random.below(stepsMax);
      await stage.behind[0]?.kill();
      const process = await startProcess(child, { ...settings, dieAfter });
      stage.behind[0] = process;
      const made = make(stage.sandbox, 8, 100);
      const end = await rotateFor(process);
      await made;
      if (end === "done") finished++;
      if (end !== undefined) continue;
      deaths++;
      diedAfter.set(dieAfter, (diedAfter.get(dieAfter) ?? 0) + 1);
    }
    await stage.behind[0]?.kill();
    const last = await startProcess(child, settings);
    stage.behind[0] = last;
    expect(await rotateFor(last)).toBe("done");
    await make(stage.sandbox, 4, 0);
    await expectAll(stage, database);
    expect(readFileSync(stage.secretFile, "utf8")).toBe(stage.sandbox.webhookSecret);
    expect(stage.sandbox.webhookSecret).not.toBe(before);
    const deliveries = (await stage.sandbox.deliveries.list()).length;
    const counts = { kills, "different points": diedAfter.size, finished, deliveries };
    report({ what: `SIGKILL of a rotation on ${where}`, seed, seconds: secondsSince(start), counts });
    await stage.close();
  },
);

/** As an operator would: asks again while the lease of the killed one lasts. */
async function rotateFor(process: Process): Promise<string | undefined> {
  for (;;) {
    const end = await process.rotate();
    if (end !== "already-rotating") return end;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
