/** Jobs are heard of by LISTEN, where the store is told to, and looked for else. */
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { RetryAfterError } from "../../src/handlers/errors.ts";
import type { MirrorOptions } from "../../src/mirror/options.ts";
import type { Mirror } from "../../src/mirror/create-mirror.ts";
import { systemClock } from "../../src/shared/clock.ts";
import type { PostgresTarget } from "../../src/store/postgres/options.ts";
import { channelOf, listenForJobs } from "../../src/store/postgres/listen.ts";
import { postgres } from "../../src/store/postgres/store.ts";
import type { Store } from "../../src/store/store.ts";
import { delivery } from "../support/delivery.ts";
import { openMirror } from "../support/mirror.ts";
import { freshSchema, openPool, postgresUrl, run } from "../support/postgres.ts";

/** What is not heard of is found after ten minutes: no test waits for that. */
const withoutLooking = (store: Store): Store =>
  Object.create(store, { lookEveryMs: { value: 600_000 } }) as Store;

interface Worker {
  readonly mirror: Mirror;
  readonly seen: string[];
}

async function openWorker(store: Store, options: Partial<MirrorOptions> = {}): Promise<Worker> {
  const mirror = await openMirror({ store: withoutLooking(store), clock: systemClock, ...options });
  const seen: string[] = [];
  mirror.on("contract.created", ({ contractId }) => void seen.push(contractId), { name: "see" });
  await mirror.idle();
  return { mirror, seen };
}

const receiverOn = (schema: string): Promise<Mirror> =>
  openMirror({
    store: postgres({ connectionString: postgresUrl, schema }),
    clock: systemClock,
    jobs: { run: false },
  });

const created = (contractId: string) =>
  delivery("contract.created", { id: contractId, seconds: 0, contractId });

async function isListening(schema: string): Promise<boolean> {
  const rows = await run(`select 1 from ${schema}.workers where listening = 1`);
  return rows.length > 0;
}

const targets: readonly (readonly [string, () => PostgresTarget])[] = [
  ["a connection string", () => ({ connectionString: postgresUrl, connectionsMax: 1 })],
  ["the app's pool", () => ({ pool: openPool() })],
];

describe.each(targets)("a store that listens, over %s", (_, target) => {
  it("hears of a job that another process commits, without looking", async () => {
    const schema = freshSchema();
    const { seen } = await openWorker(postgres({ ...target(), schema, listen: true }));
    const receiver = await receiverOn(schema);
    await expect.poll(() => isListening(schema)).toBe(true);
    await receiver.receive(created("CNT-1"));
    await expect.poll(() => seen).toEqual(["CNT-1"]);
  });

  it("hears of a dead job that another process retries, without looking", async () => {
    const schema = freshSchema();
    const store = withoutLooking(postgres({ ...target(), schema, listen: true }));
    const worker = await openMirror({ store, clock: systemClock, jobs: { maxAttempts: 1 } });
    const seen: string[] = [];
    const fail = ({ contractId }: { contractId: string }): void => {
      seen.push(contractId);
      if (seen.length === 1) throw new Error("not yet");
    };
    worker.on("contract.created", fail, { name: "see" });
    await worker.idle();
    await expect.poll(() => isListening(schema)).toBe(true);
    const other = await receiverOn(schema);
    await other.receive(created("CNT-1"));
    await expect.poll(async () => (await other.jobs.list({ state: "dead" })).items).toHaveLength(1);
    const [job] = (await other.jobs.list({ state: "dead" })).items;
    await other.jobs.retry(job?.id ?? "");
    await expect.poll(() => seen).toEqual(["CNT-1", "CNT-1"]);
  });

  it("hears of a job that another process runs before its time, without looking", async () => {
    const schema = freshSchema();
    const store = withoutLooking(postgres({ ...target(), schema, listen: true }));
    const worker = await openMirror({ store, clock: systemClock, jobs: { backoffMs: 3_600_000 } });
    const seen: number[] = [];
    const fail = (_event: unknown, { attempt }: { attempt: number }): void => {
      seen.push(attempt);
      if (attempt === 1) throw new Error("not yet");
    };
    worker.on("contract.created", fail, { name: "see" });
    await worker.idle();
    await expect.poll(() => isListening(schema)).toBe(true);
    const other = await receiverOn(schema);
    await other.receive(created("CNT-1"));
    const failed = async () =>
      (await other.jobs.list({ state: "due" })).items.filter(({ lastError }) => lastError);
    await expect.poll(failed).toHaveLength(1);
    await other.jobs.retry((await failed())[0]?.id ?? "");
    await expect.poll(() => seen).toEqual([1, 2]);
  });

  it("leaves no connection listening when it is closed", async () => {
    const schema = freshSchema();
    const { mirror } = await openWorker(postgres({ ...target(), schema, listen: true }));
    await expect.poll(() => isListening(schema)).toBe(true);
    await mirror.close();
    await expect.poll(() => run(listenersOf(schema))).toEqual([]);
  });

  it("goes on listening when its connection was broken", async () => {
    const schema = freshSchema();
    const { seen } = await openWorker(postgres({ ...target(), schema, listen: true }));
    const receiver = await receiverOn(schema);
    await expect.poll(() => isListening(schema)).toBe(true);
    await run(listenersOf(schema, "pg_terminate_backend(pid)"));
    await expect.poll(() => isListening(schema)).toBe(false);
    await expect.poll(() => isListening(schema), { timeout: 10_000 }).toBe(true);
    await receiver.receive(created("CNT-1"));
    await expect.poll(() => seen).toEqual(["CNT-1"]);
  });
});

/** The connections whose last statement was that they listen there. */
function listenersOf(schema: string, what = "pid"): string {
  return `select ${what} from pg_stat_activity where query = 'listen "${channelOf({ schema, prefix: "" })}"'`;
}

it("a mirror whose pool has no connection left to listen on closes", async () => {
  const [pool, schema] = [openPool(postgresUrl, { max: 2 }), freshSchema()];
  const store = withoutLooking(postgres({ pool, schema, listen: true, deadlineMs: 3000 }));
  const mirror = await openMirror({ store, clock: systemClock });
  mirror.on("*", () => undefined, { name: "see" });
  await mirror.idle();
  await expect.poll(() => isListening(schema)).toBe(true);
  const first = await pool.connect();
  const second = pool.connect();
  await run(listenersOf(schema, "pg_terminate_backend(pid)"));
  await second;
  await expect.poll(() => pool.waitingCount, { timeout: 10_000 }).toBeGreaterThan(0);
  await mirror.close();
  first.release();
  (await second).release();
});

it.each(targets)("a mirror that closes while it connects to listen ends, over %s", async (_, target) => {
  const store = postgres({ ...target(), schema: freshSchema(), listen: true });
  const mirror = await openMirror({ store, clock: systemClock });
  await mirror.close();
});

it("who stops listening waits for no server that hangs", async () => {
  let asked = 0;
  const query = (): Promise<never> => {
    asked++;
    return new Promise(() => {});
  };
  const client = { query, on: () => undefined };
  let drops = 0;
  const connect = async () => ({ client, drop: async () => void drops++ });
  const place = { schema: "public", prefix: "" };
  const stop = listenForJobs({ place, connect }, { heard: () => undefined, changed: () => undefined });
  await expect.poll(() => asked).toBe(1);
  await stop();
  expect(drops).toBe(1);
});

it("a job is found by looking, where nothing is heard", async () => {
  const schema = freshSchema();
  const store = postgres({ connectionString: postgresUrl, schema });
  const mirror = await openMirror({ store, clock: systemClock });
  const seen: string[] = [];
  mirror.on("contract.created", ({ contractId }) => void seen.push(contractId), { name: "see" });
  await mirror.idle();
  await (await receiverOn(schema)).receive(created("CNT-1"));
  await expect.poll(() => seen).toEqual(["CNT-1"]);
});

it.each([
  ["behind", -3_600_000],
  ["ahead of", 3_600_000],
])(
  "a job is found when it is due, and no sooner, where the process's clock is %s the database's",
  async (_, ms) => {
    const now = Date.now.bind(Date);
    vi.spyOn(Date, "now").mockImplementation(() => now() + ms);
    onTestFinished(() => void vi.restoreAllMocks());
    const schema = freshSchema();
    const store = postgres({ connectionString: postgresUrl, schema });
    const mirror = await openMirror({ store, clock: systemClock });
    const seen: string[] = [];
    const failOnce = ({ contractId }: { contractId: string }): void => {
      if (seen.push(contractId) === 1) throw new RetryAfterError("later", 600_000);
    };
    mirror.on("contract.created", failOnce, { name: "see" });
    await mirror.idle();
    const receiver = await receiverOn(schema);
    await receiver.receive(created("CNT-1"));
    await expect.poll(() => seen).toEqual(["CNT-1"]);
    await mirror.idle();
    await receiver.receive(created("CNT-2"));
    await expect.poll(() => seen).toEqual(["CNT-1", "CNT-2"]);
    expect((await mirror.jobs.list({ state: "due" })).items).toMatchObject([{ contractId: "CNT-1" }]);
  },
);

it("jobs are told of while somebody listens, by their handler, once for each commit, and else not", async () => {
  const schema = freshSchema();
  const { mirror, seen } = await openWorker(postgres({ connectionString: postgresUrl, schema }));
  const told: (string | undefined)[] = [];
  const client = await openPool().connect();
  client.on("notification", ({ payload }) => void told.push(payload));
  await client.query(`listen "${channelOf({ schema, prefix: "" })}"`);
  await mirror.receive(created("CNT-1"));
  await mirror.idle();
  const listening = await openWorker(postgres({ connectionString: postgresUrl, schema, listen: true }), {
    jobs: { leaseMs: 500 },
  });
  await expect.poll(() => isListening(schema)).toBe(true);
  await client.query("select 1");
  expect(told).toEqual([]);
  await Promise.all([mirror.receive(created("CNT-2")), mirror.receive(created("CNT-3"))]);
  // Whichever takes them. Waiting until nothing is owed would look again after ten minutes.
  await expect.poll(() => [...seen, ...listening.seen].sort()).toEqual(["CNT-1", "CNT-2", "CNT-3"]);
  await client.query("select 1");
  expect(new Set(told)).toEqual(new Set(["see"]));
  await listening.mirror.close();
  const before = told.length;
  await mirror.receive(created("CNT-4"));
  await client.query("select 1");
  expect(told).toHaveLength(before);
  client.release(true);
});
