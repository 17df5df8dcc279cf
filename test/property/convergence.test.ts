/** Semantics §1.4: the mirror is a pure function of the set of what was received. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as fc from "fast-check";
import { afterAll, beforeAll, describe, expect } from "vitest";
import { createMemoryStore } from "../../src/testing/memory-store.ts";
import { sqlite } from "../../src/store/sqlite/store.ts";
import { arrangement, schedule } from "../../src/testing/arbitraries/schedule.ts";
import { rearrange, type Arrangement, type StorySchedule } from "../../src/testing/story/schedule.ts";
import { postgresStore } from "../support/postgres.ts";
import { law } from "./law.ts";
import { openReceiving, type Receiving } from "./receiving.ts";
import { attemptsByDigest, clearStore, foldedRows, mirroredRows, withinContracts } from "./rows.ts";

/** One contract mostly; two now and then, for what one says of another. */
const told = fc.oneof(
  { weight: 3, arbitrary: schedule({ manner: "wild", stepsMax: 9 }) },
  { weight: 1, arbitrary: schedule({ manner: "wild", stepsMax: 7, contractsMax: 2, sharedRefundIds: true }) },
);
const wild = fc.tuple(told, arrangement());
const folder = mkdtempSync(join(tmpdir(), "escrow-mirror-laws-"));

describe("wild histories", () => {
  let inSqlite: Receiving;
  let inFile: Receiving;
  let inPostgres: Receiving;
  beforeAll(async () => {
    inSqlite = await openReceiving(sqlite(":memory:"));
    inFile = await openReceiving(sqlite(join(folder, "laws.db")));
    inPostgres = await openReceiving(postgresStore());
  });
  afterAll(async () => {
    await inSqlite.store.close();
    await inFile.store.close();
    await inPostgres.store.close();
    rmSync(folder, { recursive: true });
  });

  law(
    "any order, duplication and batch split gives equal rows in memory, in SQLite and in a plain fold",
    0.3,
    wild,
    (arrivals) => checkConvergence(inSqlite, arrivals),
  );

  law("the same holds in an SQLite file", 0.04, wild, (arrivals) => checkConvergence(inFile, arrivals));

  law("the same holds in Postgres", 0.035, wild, (arrivals) => checkConvergence(inPostgres, arrivals));

  law("a rebuild changes nothing", 0.05, wild, async ([first]) => {
    await clearStore(inSqlite.store);
    await inSqlite.deliver(first);
    const before = await mirroredRows(inSqlite.store);
    await inSqlite.rebuild();
    expect(await mirroredRows(inSqlite.store)).toEqual(before);
  });

  law("what comes again changes nothing but the count of attempts", 0.08, wild, async ([first, again]) => {
    const inMemory = await openReceiving(createMemoryStore());
    await inMemory.deliver(first);
    const before = await mirroredRows(inMemory.store);
    const verdicts = await inMemory.deliver(rearrange(first, again));
    expect(new Set(verdicts.map(({ outcome }) => outcome))).toEqual(setOf(verdicts.length, "duplicate"));
    expect(await mirroredRows(inMemory.store)).toEqual(before);
  });
});

async function checkConvergence(
  other: Receiving,
  [first, otherwise]: readonly [StorySchedule, Arrangement],
): Promise<void> {
  const second = rearrange(first, otherwise);
  const inMemory = await openReceiving(createMemoryStore());
  await clearStore(other.store);
  await inMemory.deliver(first);
  await other.deliver(second);
  const rows = await mirroredRows(inMemory.store);
  expect(await mirroredRows(other.store)).toEqual(rows);
  expect(withinContracts(rows)).toEqual(foldedRows(first.distinct));
  expect(await attemptsByDigest(inMemory.store)).toEqual(arrivalsByDigest(first));
  expect(await attemptsByDigest(other.store)).toEqual(arrivalsByDigest(second));
}

/** How often each delivery came, whatever ids it came under. */
function arrivalsByDigest({ batches }: StorySchedule): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { arrival } of batches.flat()) {
    if (arrival.kind !== "event") continue;
    const { digest } = arrival.sent;
    counts.set(digest, (counts.get(digest) ?? 0) + 1);
  }
  return counts;
}

function setOf<Value>(count: number, value: Value): Set<Value> {
  return new Set(count === 0 ? [] : [value]);
}
