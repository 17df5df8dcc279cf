/** One process's view of a rotation: each answer, each failure, and what is told. */
import { describe, expect, it, vi } from "vitest";
import type { Mirror } from "../../src/mirror/create-mirror.ts";
import { createMirror } from "../../src/mirror/create-mirror.ts";
import { createMemoryStore } from "../../src/testing/memory-store.ts";
import { sqlite } from "../../src/store/sqlite/store.ts";
import type { Store } from "../../src/store/store.ts";
import type { Client } from "../../src/client.ts";
import { delivery } from "../support/delivery.ts";
import { recordingLogger, settle } from "../support/mirror.ts";
import { postgresStore } from "../support/postgres.ts";
import { makeContract, openWatched, type Watched } from "./watched.ts";

const stores: readonly (readonly [string, () => Store])[] = [
  ["memory", () => createMemoryStore()],
  ["SQLite", () => sqlite(":memory:")],
  ["Postgres", () => postgresStore()],
];

let counter = 0;
const statusOf = async (mirror: Mirror, secret: string): Promise<number> =>
  (await mirror.receive(delivery("contract.created", { id: `s-${++counter}`, seconds: 0 }, { secret })))
    .status;
const never = () => Promise.reject(new Error("no"));
const forger = "whsec_of_somebody_else";
const minute = 60_000;

/** A mirror whose secret has verified a delivery, and whose own secrets stay what they were. */
async function openProven(store: Store, toClient?: (client: Client) => Client): Promise<Watched> {
  const watched = await openWatched(store, toClient);
  await makeContract(watched);
  expect(await statusOf(watched.mirror, forger)).toBe(401);
  await watched.sandbox.clock.advance(minute);
  return watched;
}

/** Another process on the same store, without a client. */
const beside = (store: Store, secrets: string, { sandbox }: Watched) =>
  createMirror({
    store: Object.create(store, {
      open: { value: async () => undefined },
      close: { value: async () => undefined },
    }) as Store,
    webhook: { secrets },
    clock: sandbox.clock,
    jobs: { run: false },
  });

/** Changes the secret, and lets the minute pass in which the old one may still arrive. Gives the old one. */
async function rotateToTheEnd(watched: Watched): Promise<string> {
  const { mirror, sandbox } = watched;
  const old = sandbox.webhookSecret;
  await mirror.rotateSecret({ save: () => undefined });
  await makeContract(watched);
  await sandbox.clock.advance(10 * minute);
  return old;
}

describe.each(stores)("a rotation on %s", (_, open) => {
  it("answers a wrong signature 503 until the new secret has verified a delivery, and a minute longer", async () => {
    const watched = await openProven(open());
    const { mirror, sandbox } = watched;
    const old = sandbox.webhookSecret;
    const saved: string[] = [];
    await mirror.rotateSecret({ save: (secret) => void saved.push(secret) });
    expect(saved).toEqual([sandbox.webhookSecret]);
    expect(sandbox.webhookSecret).not.toBe(old);
    expect(await statusOf(mirror, forger)).toBe(503);
    await makeContract(watched);
    // One signed with the old secret may be on its way still.
    await sandbox.clock.advance(20_000);
    expect(await statusOf(mirror, old)).toBe(503);
    await sandbox.clock.advance(2 * minute);
    expect(await statusOf(mirror, forger)).toBe(401);
    await sandbox.clock.advance(20_000);
    expect(await statusOf(mirror, old)).toBe(401);
  });

  it("stays open where save fails, says so without the secret, and saves the same secret when it is called again", async () => {
    const watched = await openProven(open());
    const { mirror, sandbox } = watched;
    const tried: string[] = [];
    const failing = mirror.rotateSecret({
      save: (secret) => {
        tried.push(secret);
        throw new Error(`can't write ${secret}`);
      },
    });
    const error: unknown = await failing.catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: "secret-not-saved" });
    const made = sandbox.webhookSecret;
    expect(tried).toEqual([made, made, made, made]);
    await sandbox.clock.advance(minute);
    // It verifies here all the same.
    expect(await statusOf(mirror, made)).toBe(200);
    const { warnings, ok } = await mirror.health();
    expect(ok).toBe(true);
    expect(warnings).toContainEqual(expect.stringMatching(/rotateSecret\(\{ save \}\) again/));
    const told = [String(error), String((error as Error).cause), ...warnings, JSON.stringify(error)];
    expect(told.join(" ")).not.toContain(made.slice(6));

    const saved: string[] = [];
    await mirror.rotateSecret({ save: (secret) => void saved.push(secret) });
    expect(saved).toEqual([made]);
    expect(sandbox.webhookSecret).toBe(made);
    await sandbox.clock.advance(2 * minute);
    expect(await statusOf(mirror, forger)).toBe(401);
    expect((await mirror.health()).warnings).not.toContainEqual(expect.stringMatching(/again/));
  });

  it("whose secret has verified nothing for a quarter of an hour is told to a person, by each process", async () => {
    const store = open();
    const watched = await openProven(store);
    const { mirror, sandbox } = watched;
    const old = sandbox.webhookSecret;
    await mirror.rotateSecret({ save: () => undefined });
    const late = await beside(store, old, watched);
    expect(await statusOf(late, sandbox.webhookSecret)).toBe(503);
    const told = async (): Promise<boolean> =>
      (await late.health()).warnings.some((each) => each.includes("has not verified any delivery"));
    await sandbox.clock.advance(14 * minute);
    expect(await told()).toBe(false);
    await sandbox.clock.advance(2 * minute);
    expect(await told()).toBe(true);
    await makeContract(watched);
    expect(await told()).toBe(false);
  });

  it("that is over is known to a process without the newest secret: it answers 503 and says so", async () => {
    const store = open();
    const watched = await openProven(store);
    const { mirror, sandbox } = watched;
    const old = await rotateToTheEnd(watched);
    expect(await statusOf(mirror, forger)).toBe(401);
    const late = await beside(store, old, watched);
    expect(await statusOf(late, forger)).toBe(503);
    expect(await statusOf(late, sandbox.webhookSecret)).toBe(503);
    expect((await late.health()).warnings).toContainEqual(
      expect.stringMatching(/does not have the newest signing secret/),
    );
    const right = await beside(store, sandbox.webhookSecret, watched);
    expect(await statusOf(right, forger)).toBe(401);
  });

  it("that is over is known to a process whose old secret still verifies: a copy from before makes it no newer", async () => {
    const store = open();
    const watched = await openProven(store);
    const { sandbox } = watched;
    const old = await rotateToTheEnd(watched);
    const late = await beside(store, old, watched);
    expect(await statusOf(late, old)).toBe(200);
    await sandbox.clock.advance(minute);
    expect(await statusOf(late, sandbox.webhookSecret)).toBe(503);
  });

  it("ends the old secret where the source no longer gives it, though no signature was wrong", async () => {
    const watched = await openProven(open());
    const { mirror, sandbox } = watched;
    const old = await rotateToTheEnd(watched);
    expect(await statusOf(mirror, old)).toBe(401);
    expect(await statusOf(mirror, sandbox.webhookSecret)).toBe(200);
  });

  it("of two calls at once makes one new secret; the other call is told", async () => {
    const store = open();
    const { mirror, sandbox } = await openProven(store);
    const before = sandbox.webhookSecret;
    const saved: string[] = [];
    const save = (secret: string) => void saved.push(secret);
    const both = await Promise.allSettled([mirror.rotateSecret({ save }), mirror.rotateSecret({ save })]);
    expect(both.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    expect(both.find(({ status }) => status === "rejected")).toMatchObject({
      reason: { code: "already-rotating" },
    });
    expect(saved).toEqual([sandbox.webhookSecret]);
    expect(before).not.toBe(sandbox.webhookSecret);
  });

  it.each([
    ["no secret", () => ({}) as never],
    ["an empty secret", () => ({ secretKey: " " }) as never],
    ["nothing", () => null as never],
  ])("whose answer has %s takes it from the subscription", async (_answer, spoil) => {
    const { mirror, sandbox } = await openProven(open(), (client) => ({
      ...client,
      webhooks: {
        ...client.webhooks,
        regenerateSecret: async () => {
          await client.webhooks.regenerateSecret();
          return spoil();
        },
      },
    }));
    const saved: string[] = [];
    await mirror.rotateSecret({ save: (secret) => void saved.push(secret) });
    expect(saved).toEqual([sandbox.webhookSecret]);
    expect(await statusOf(mirror, sandbox.webhookSecret)).toBe(200);
  });

  it("that the service refuses changes nothing", async () => {
    const refusal = Object.assign(new Error("403"), {
      name: "EscrowApiError",
      code: "error-response",
      status: 403,
    });
    const { mirror, sandbox } = await openProven(open(), (client) => ({
      ...client,
      webhooks: { ...client.webhooks, regenerateSecret: () => Promise.reject(refusal) },
    }));
    await expect(mirror.rotateSecret({ save: () => undefined })).rejects.toBe(refusal);
    await sandbox.clock.advance(2 * minute);
    expect(await statusOf(mirror, sandbox.webhookSecret)).toBe(200);
    expect(await statusOf(mirror, forger)).toBe(401);
    expect((await mirror.health()).warnings).not.toContainEqual(expect.stringMatching(/rotateSecret/));
  });
});

it("a process that starts in an open rotation verifies with the secret that the service has", async () => {
  const store = sqlite(":memory:");
  const watched = await openProven(store);
  const { mirror, sandbox, client } = watched;
  const old = sandbox.webhookSecret;
  await expect(mirror.rotateSecret({ save: never })).rejects.toMatchObject({ code: "secret-not-saved" });
  const logger = recordingLogger();
  const next = await createMirror({
    store: Object.create(store, {
      open: { value: async () => undefined },
      close: { value: async () => undefined },
    }) as Store,
    webhook: { secrets: old },
    client,
    clock: sandbox.clock,
    logger,
    jobs: { run: false },
  });
  expect(await statusOf(next, sandbox.webhookSecret)).toBe(200);
  expect(JSON.stringify(logger.lines)).not.toContain(sandbox.webhookSecret.slice(6));
  const rows = await store.read((reader) =>
    Promise.all([reader.find("rotations"), reader.find("secrets"), reader.find("leases")]),
  );
  expect(JSON.stringify(rows)).not.toContain("whsec");
  await next.close();
});

describe("a mirror that closes while its secret is changed", () => {
  it("changes nothing if the service was not asked yet, and leaves no rotation open", async () => {
    const store = sqlite(":memory:");
    const { mirror, sandbox } = await openProven(keptOpen(store));
    const before = sandbox.webhookSecret;
    const rotating = mirror.rotateSecret({ save: never });
    const refused = expect(rotating).rejects.toMatchObject({ code: "closed" });
    await vi.waitUntil(async () => (await store.read((reader) => reader.find("rotations"))).length > 0);
    await mirror.close();
    await refused;
    expect(sandbox.webhookSecret).toBe(before);
    const [rotation] = await store.read((reader) => reader.find("rotations"));
    expect(rotation).toMatchObject({ closedAt: expect.any(String) as string });
    await store.close();
  });

  it("waits until the new secret is saved if the service has made it", async () => {
    const { mirror, sandbox } = await openProven(sqlite(":memory:"));
    const steps: string[] = [];
    let closing: Promise<unknown> | undefined;
    const save = async (secret: string): Promise<void> => {
      closing = mirror.close().then(() => steps.push("closed"));
      await settle();
      steps.push(secret);
    };
    await mirror.rotateSecret({ save });
    await closing;
    expect(steps).toEqual([sandbox.webhookSecret, "closed"]);
  });

  it("waits no longer than its deadline", async () => {
    const { mirror } = await openProven(sqlite(":memory:"));
    let [asked, saved] = [(): void => {}, (): void => {}];
    const isAsked = new Promise<void>((resolve) => (asked = resolve));
    const isSaved = new Promise<void>((resolve) => (saved = resolve));
    const rotating = mirror.rotateSecret({ save: () => (asked(), isSaved) });
    await isAsked;
    await mirror.close({ deadlineMs: 20 });
    saved();
    await expect(rotating).rejects.toMatchObject({ code: "closed" });
  });
});

/** A store that outlives its mirror. */
function keptOpen(store: Store): Store {
  return Object.create(store, { close: { value: async () => undefined } }) as Store;
}
