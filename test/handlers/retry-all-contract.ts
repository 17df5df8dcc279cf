/** How many jobs are retried at once, on every store. */
import { describe, expect, it } from "vitest";
import type { Mirror } from "../../src/mirror/create-mirror.ts";
import type { RetryFilter } from "../../src/mirror/retry-jobs.ts";
import type { Store } from "../../src/store/store.ts";
import { at, delivery } from "../support/delivery.ts";
import { openMirror, testClock } from "../support/mirror.ts";

const statesOf = async (mirror: Mirror): Promise<string[]> =>
  (await mirror.jobs.list()).items
    .toSorted((one, other) => Number(one.id) - Number(other.id))
    .map(({ handler, contractId, state }) => `${handler} ${contractId} ${state}`);

/** Two dead jobs of each of two handlers for CNT-1, and one of each for CNT-2, ten minutes later. */
async function openDead(store: Store): Promise<Mirror> {
  const clock = testClock();
  const mirror = await openMirror({ store, clock, jobs: { run: false, maxAttempts: 1 } });
  for (const name of ["mail", "post"]) mirror.on("*", () => Promise.reject(new Error("always")), { name });
  await mirror.idle();
  const send = async (type: string, contractId: string, seconds: number): Promise<void> => {
    await mirror.receive(delivery(type, { id: `${contractId}-${seconds}`, contractId, seconds }));
    await mirror.jobs.runOnce();
  };
  await send("contract.created", "CNT-1", 0);
  await send("contract.approved", "CNT-1", 1);
  clock.advance(600_000);
  await send("contract.created", "CNT-2", 2);
  return mirror;
}

export function describeRetryAll(name: string, create: () => Store): void {
  describe(`jobs.retryAll on ${name}`, () => {
    it("makes the first job of each line due, and lets the others wait behind it", async () => {
      const mirror = await openDead(create());
      expect(await mirror.jobs.retryAll()).toEqual({ retried: 6 });
      expect((await statesOf(mirror)).sort()).toEqual([
        "mail CNT-1 due",
        "mail CNT-1 waiting",
        "mail CNT-2 due",
        "post CNT-1 due",
        "post CNT-1 waiting",
        "post CNT-2 due",
      ]);
    });

    it.each<[RetryFilter, number]>([
      [{ handler: "mail" }, 3],
      [{ event: "contract.created" }, 4],
      [{ event: "contract.created", handler: "post" }, 2],
      [{ since: at(300) }, 2],
      [{ state: "due" }, 0],
      [{ handler: "nobody" }, 0],
    ])("retries those that fit %j", async (filter, retried) => {
      const mirror = await openDead(create());
      expect(await mirror.jobs.retryAll(filter)).toEqual({ retried });
      const { items } = await mirror.jobs.list({ state: "dead" });
      expect(items).toHaveLength(6 - retried);
    });

    it("lists jobs by event, time, and the contract that they failed for", async () => {
      const mirror = await openDead(create());
      const count = async (filter: object) => (await mirror.jobs.list(filter)).items.length;
      expect(await count({ event: "contract.approved" })).toBe(2);
      expect(await count({ state: "dead", since: at(300) })).toBe(2);
      expect(await count({ failedOf: "CNT-1" })).toBe(4);
      expect(await count({ failedOf: "CNT-1", handler: "mail", event: "contract.created" })).toBe(1);
    });

    it("refuses a filter that it does not take", async () => {
      const mirror = await openMirror({ store: create() });
      const filter = { handlers: "mail" } as RetryFilter;
      await expect(mirror.jobs.retryAll(filter)).rejects.toMatchObject({ code: "invalid-argument" });
      await expect(mirror.jobs.retryAll({ state: "done" as "dead" })).rejects.toThrow(/dead, due/);
    });
  });
}
