import { describe, expect, it } from "vitest";
import { createLease } from "../../src/healing/lease.ts";
import { createMemoryStore } from "../../src/testing/memory-store.ts";
import { sqlite } from "../../src/store/sqlite/store.ts";
import type { Store } from "../../src/store/store.ts";
import { silentLogger } from "../../src/shared/logger.ts";
import { testClock } from "../support/mirror.ts";
import { postgresStore } from "../support/postgres.ts";

const stores: readonly (readonly [string, () => Store])[] = [
  ["memory", () => createMemoryStore()],
  ["SQLite", () => sqlite(":memory:")],
  ["Postgres", () => postgresStore()],
];

describe.each(stores)("a lease on %s", (_, open) => {
  it("has one holder, is held on to by asking, and passes on within its time or when it is let go", async () => {
    const store = open();
    const clock = testClock();
    await store.open({ migrate: "auto", logger: silentLogger, clock });
    const [one, two] = [createLease(store, "work", 1000), createLease(store, "work", 1000)];
    const other = createLease(store, "other work", 1000);
    expect([await one.ask(), await two.ask(), await other.ask()]).toEqual([true, false, true]);
    for (let beat = 0; beat < 8; beat++) {
      clock.advance(one.askEveryMs);
      expect([await one.ask(), await two.ask()]).toEqual([true, false]);
    }
    // It says no more: by the last beat within the lease another has it.
    clock.advance(500);
    expect(await two.ask()).toBe(false);
    clock.advance(1);
    expect([await two.ask(), await one.ask()]).toEqual([true, false]);
    await one.release();
    expect(await one.ask()).toBe(false);
    await two.release();
    expect(await one.ask()).toBe(true);
    await store.close();
  });

  it("is taken by one of many that ask at once", async () => {
    const store = open();
    await store.open({ migrate: "auto", logger: silentLogger, clock: testClock() });
    const asked = await Promise.all(Array.from({ length: 8 }, () => createLease(store, "work", 1000).ask()));
    expect(asked.filter(Boolean)).toHaveLength(1);
    await store.close();
  });
});
