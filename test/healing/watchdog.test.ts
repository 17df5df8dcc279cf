import { describe, expect, it } from "vitest";
import type { Client } from "../../src/client.ts";
import type { MirrorClient } from "../../src/reconcile/mirror-client.ts";
import { createMemoryStore } from "../../src/testing/memory-store.ts";
import { sqlite } from "../../src/store/sqlite/store.ts";
import type { Store } from "../../src/store/store.ts";
import { postgresStore } from "../support/postgres.ts";
import { shownOf } from "../reconcile/support.ts";
import { makeContract, openWatched, passUntil, type Watched } from "./watched.ts";

const stores: readonly (readonly [string, () => Store])[] = [
  ["memory", () => createMemoryStore()],
  ["SQLite", () => sqlite(":memory:")],
  ["Postgres", () => postgresStore()],
];

const hourMs = 3_600_000;
const kindsOf = ({ warned }: Watched) => warned.map(({ kind }) => kind);

/** Ten deliveries fail for good, over two hours. */
async function fallOut(watched: Watched): Promise<string[]> {
  const { sandbox } = watched;
  watched.endpoint = "down";
  const lost: string[] = [];
  for (let made = 0; made < 12; made++) lost.push((await sandbox.createContract()).contractId);
  await sandbox.clock.advance(2 * hourMs);
  expect(await sandbox.subscription.get()).toMatchObject({ isActive: false });
  return lost;
}

describe.each(stores)("after an outage of two hours the watchdog on %s", (_, open) => {
  it("enables the subscription again, reads what was missed, and says what can't be known", async () => {
    const watched = await openWatched(open());
    const { sandbox, mirror, client } = watched;
    const known: string[] = [];
    for (let made = 0; made < 6; made++) known.push(await makeContract(watched));
    for (const id of known.slice(0, 4)) await sandbox.act(id, "pay");
    await sandbox.deliveries.idle();
    const logged = await fallOut(watched);
    // Of these nothing is sent, and nothing is logged.
    for (const id of known.slice(0, 2)) await sandbox.act(id, "release");
    await sandbox.act(known[2] ?? "", "dispute");
    await sandbox.act(known[5] ?? "", "pay");
    const { contractId: unnamed } = await sandbox.createContract();
    watched.endpoint = "mirror";

    mirror.startWatchdog({ everyMs: 1000, onWarning: watched.note });
    await passUntil(watched, () => kindsOf(watched).includes("re-enabled"));

    expect(await client.webhooks.get()).toMatchObject({ isActive: true, consecutiveFailures: 0 });
    for (const id of [...known, ...logged]) {
      const mirrored = (await mirror.contracts.get(id)) ?? expect.fail(`${id} is unknown`);
      expect(shownOf(mirrored)).toEqual(shownOf((await sandbox.contracts.get(id)) ?? expect.fail(id)));
    }
    expect(await mirror.contracts.get(unnamed)).toBeUndefined();
    expect(kindsOf(watched)).toEqual(["failing", "disabled", "re-enabled"]);
    await passUntil(watched, async () => (await mirror.health()).ok);
    const { warnings } = await mirror.health();
    expect(warnings).toContainEqual(expect.stringMatching(/mirror\.contracts\.import/));

    // What comes from now on arrives, and nothing is done twice.
    const next = await makeContract(watched);
    expect(await mirror.contracts.get(next)).toMatchObject({ status: "pending" });
    await passUntil(watched, () => sandbox.clock.now() % 10_000 < 1000);
    expect(kindsOf(watched)).toEqual(["failing", "disabled", "re-enabled"]);
  });
});

it("a subscription that can't be enabled yet makes health not ok, in every process, until it is", async () => {
  let mayEnable = false;
  const store = sqlite(":memory:");
  const watched = await openWatched(store, (client) => ({
    ...client,
    webhooks: {
      ...client.webhooks,
      update: async (input) => {
        if (!mayEnable) throw new Error("whsec_not_told");
        return client.webhooks.update(input);
      },
    },
  }));
  await fallOut(watched);
  watched.endpoint = "mirror";
  watched.mirror.startWatchdog({ everyMs: 1000, onWarning: watched.note });
  await passUntil(watched, () => kindsOf(watched).includes("service-unreachable"));
  await passUntil(watched, async () => !(await watched.mirror.health()).ok);
  const { warnings } = await watched.mirror.health();
  expect(warnings).toContainEqual(expect.stringMatching(/is disabled/));
  expect(JSON.stringify([warnings, watched.warned])).not.toContain("whsec");
  mayEnable = true;
  await passUntil(watched, async () => (await watched.mirror.health()).ok);
  await passUntil(watched, () => kindsOf(watched).includes("re-enabled"));
});

it("a watchdog that ends between enabling and reading is followed by one that reads", async () => {
  let stop: (() => Promise<void>) | undefined;
  const watched = await openWatched(undefined, (client) => ({
    ...client,
    webhooks: {
      ...client.webhooks,
      update: async (input) => {
        const updated = await client.webhooks.update(input);
        void stop?.();
        return updated;
      },
    },
  }));
  const lost = await fallOut(watched);
  watched.endpoint = "mirror";
  const first = watched.mirror.startWatchdog({ everyMs: 1000 });
  let isStopped = false;
  stop = async () => {
    await first.stop();
    isStopped = true;
  };
  await passUntil(watched, () => isStopped);
  expect(await watched.mirror.contracts.get(lost[0] ?? "")).toBeUndefined();
  expect(await watched.sandbox.subscription.get()).toMatchObject({ isActive: true });
  watched.mirror.startWatchdog({ everyMs: 1000, onWarning: watched.note });
  await passUntil(watched, () => kindsOf(watched).includes("re-enabled"));
  expect(await watched.mirror.contracts.get(lost[0] ?? "")).toMatchObject({ status: "pending" });
});

describe("failures in a row", () => {
  it("are warned of at five and at eight, each once, and anew once they were over", async () => {
    const watched = await openWatched();
    watched.mirror.startWatchdog({ everyMs: 1000, onWarning: watched.note });
    const failAndLook = async (count: number) => {
      watched.endpoint = 404;
      for (let made = 0; made < count; made++) await makeContract(watched);
      await looked(watched);
      return kindsOf(watched).length;
    };
    expect(await failAndLook(4)).toBe(0);
    expect(await failAndLook(1)).toBe(1);
    expect(await failAndLook(2)).toBe(1);
    expect(await failAndLook(1)).toBe(2);
    expect((await watched.mirror.health()).warnings).toContainEqual(expect.stringMatching(/^8 deliveries/));
    watched.endpoint = "mirror";
    await makeContract(watched);
    await looked(watched);
    expect((await watched.mirror.health()).warnings).toEqual([]);
    expect(await failAndLook(5)).toBe(3);
    expect(kindsOf(watched)).toEqual(["failing", "failing", "failing"]);
  });

  it("are the mirror's own where the service does not show the subscription, and it says so", async () => {
    const watched = await openWatched(undefined, withoutRead(405));
    watched.mirror.startWatchdog({ everyMs: 1000, onWarning: watched.note });
    await looked(watched);
    expect(watched.warned).toMatchObject([
      { kind: "no-subscription", message: expect.stringMatching(/\(405\).*own count/) as string },
    ]);
    expect((await watched.mirror.health()).warnings).toContainEqual(expect.stringMatching(/own count/));
  });
});

it.each([[null], [undefined], ["none"]])(
  "a client of one's own that gives %j for the subscription is a warning, told once",
  async (given) => {
    const watched = await openWatched(undefined, (client) => ({
      ...client,
      webhooks: { ...client.webhooks, get: async () => given as never },
    }));
    watched.mirror.startWatchdog({ everyMs: 1000, onWarning: watched.note });
    await looked(watched);
    expect(watched.warned).toMatchObject([
      { kind: "no-subscription", message: expect.stringMatching(/the client gave none/) as string },
    ]);
  },
);

it("a service that fails is a warning, told once, and over when it answers again", async () => {
  const watched = await openWatched(undefined, (client) => client, {});
  watched.sandbox.faults.set({ apiErrors: 1 });
  watched.mirror.startWatchdog({ everyMs: 1000, onWarning: watched.note });
  await passUntil(watched, () => kindsOf(watched).includes("service-unreachable"));
  watched.sandbox.faults.clear();
  await passUntil(watched, async () => (await watched.mirror.health()).warnings.length === 0);
  expect(kindsOf(watched)).toEqual(["service-unreachable"]);
});

it("a client without the calls is refused, by name", async () => {
  const { mirror } = await openWatched(undefined, bare);
  expect(() => mirror.startWatchdog()).toThrow(/webhooks\.get, webhooks\.update/);
  await expect(mirror.rotateSecret({ save: () => undefined })).rejects.toMatchObject({
    code: "invalid-configuration",
    message: expect.stringMatching(/webhooks\.get, webhooks\.regenerateSecret/) as string,
  });
});

it.each([{ everyMs: 0 }, { everyMs: 1.5 }, { everyMs: Number.NaN }, { onWarning: 1 as never }])(
  "the options %j are refused",
  async (options) => {
    const { mirror } = await openWatched();
    expect(() => mirror.startWatchdog(options)).toThrow(/startWatchdog/);
  },
);

const bare = ({ contracts, webhooks }: Client): MirrorClient => ({
  contracts,
  webhooks: { allLogs: (...given) => webhooks.allLogs(...given) },
});

const withoutRead = (status: number) => (client: Client) => ({
  ...client,
  webhooks: {
    ...client.webhooks,
    get: () => Promise.reject(Object.assign(new Error("no read"), { status })),
  },
});

/** Two more rounds have ended. */
async function looked(watched: Watched): Promise<void> {
  const seenAt = async () => {
    const rows = await watched.mirror.db.selectFrom("leases").selectAll().execute();
    return rows.map(({ state }) => (JSON.parse(state ?? "{}") as { seenAt?: string }).seenAt ?? "")[0] ?? "";
  };
  for (let round = 0; round < 2; round++) {
    const before = await seenAt();
    await passUntil(watched, async () => (await seenAt()) > before);
  }
}
