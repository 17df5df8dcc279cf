import { describe, expect, it } from "vitest";
import type { Mirror } from "../../src/mirror/create-mirror.ts";
import { createMemoryStore } from "../../src/testing/memory-store.ts";
import { sqlite } from "../../src/store/sqlite/store.ts";
import type { Store } from "../../src/store/store.ts";
import { delivery } from "../support/delivery.ts";
import { openMirror, testClock, type TestClock } from "../support/mirror.ts";
import { postgresStore } from "../support/postgres.ts";

const stores: readonly (readonly [string, () => Store])[] = [
  ["memory", () => createMemoryStore()],
  ["SQLite", () => sqlite(":memory:")],
  ["Postgres", () => postgresStore()],
];

const hour = 3_600_000;
let counter = 0;

async function receive(mirror: Mirror, event = "contract.created"): Promise<void> {
  const id = `q-${++counter}`;
  await mirror.receive(delivery(event, { id, seconds: counter, contractId: `CNT-${counter}` }));
}

/** Days of a delivery at each hour from eight to eighteen; the clock is at noon of the next. */
async function liveFor(mirror: Mirror, clock: TestClock, days: number, isOpen = (_day: number) => true) {
  for (let day = 0; day < days; day++) {
    clock.advance(8 * hour);
    for (let at = 8; at <= 18; at++) {
      if (isOpen(day)) await receive(mirror);
      clock.advance(hour);
    }
    clock.advance(5 * hour);
  }
}

const isTold = async (mirror: Mirror) => {
  const { ok, warnings } = await mirror.health();
  expect(ok).toBe(true);
  return warnings.some((each) => /No delivery has arrived since/.test(each));
};

const midnightMs = Date.UTC(2026, 3, 6);

describe.each(stores)("silence on %s", (_, open) => {
  it("is told of in the hours when deliveries came on each of seven days, and not at night", async () => {
    const clock = testClock(midnightMs);
    const mirror = await openMirror({ store: open(), clock });
    await liveFor(mirror, clock, 8);
    // The night after the last of them, at four.
    clock.advance(4 * hour);
    expect(await isTold(mirror)).toBe(false);
    clock.advance(8 * hour);
    expect(await isTold(mirror)).toBe(true);
    await receive(mirror);
    expect(await isTold(mirror)).toBe(false);
    clock.advance(1.5 * hour);
    expect(await isTold(mirror)).toBe(true);
  });

  it("is not told of by a mirror younger than a week", async () => {
    const clock = testClock(midnightMs);
    const mirror = await openMirror({ store: open(), clock });
    await liveFor(mirror, clock, 6);
    clock.advance(12 * hour);
    expect(await isTold(mirror)).toBe(false);
  });
});

it("a day of the week without deliveries is quiet, and two of them are silence", async () => {
  const clock = testClock(midnightMs);
  const mirror = await openMirror({ clock });
  await liveFor(mirror, clock, 14, (day) => day % 7 !== 6);
  // The day before had none, as each seventh has. Today is a day that has.
  clock.advance(7 * hour);
  expect(await isTold(mirror)).toBe(false);
  clock.advance(24 * hour);
  expect(await isTold(mirror)).toBe(true);
});

it("is not told of while no contract is in progress", async () => {
  const clock = testClock(midnightMs);
  const mirror = await openMirror({ clock });
  for (let day = 0; day < 9; day++) {
    await receive(mirror, "contract.rejected");
    clock.advance(24 * hour);
  }
  clock.advance(12 * hour);
  expect(await isTold(mirror)).toBe(false);
  await receive(mirror);
  clock.advance(26 * hour);
  expect(await isTold(mirror)).toBe(true);
});
