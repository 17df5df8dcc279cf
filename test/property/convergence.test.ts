/** Semantics §1.4: the mirror is a pure function of the set of what was received. */
import * as fc from "fast-check";
import { afterAll, beforeAll, describe, expect } from "vitest";
import { createMemoryStore } from "../../src/store/memory-store.ts";
import { sqlite } from "../../src/store/sqlite-store.ts";
import { arrangement, rearrange, schedule } from "../../src/testing/schedule.ts";
import { law } from "./law.ts";
import { openReceiving, type Receiving } from "./receiving.ts";
import { clearStore, foldedRows, mirroredRows, withinContracts } from "./rows.ts";

const wild = fc.tuple(schedule({ manner: "wild", contractsMax: 2 }), arrangement());

describe("wild histories", () => {
  let inSqlite: Receiving;
  beforeAll(async () => {
    inSqlite = await openReceiving(sqlite(":memory:"));
  });
  afterAll(() => inSqlite.store.close());

  law(
    "any order, duplication and batch split gives equal rows in memory, in SQLite and in a plain fold",
    0.4,
    wild,
    async ([first, otherwise]) => {
      const inMemory = await openReceiving(createMemoryStore());
      await clearStore(inSqlite.store);
      await inMemory.deliver(first);
      await inSqlite.deliver(rearrange(first, otherwise));
      const rows = await mirroredRows(inMemory.store);
      expect(await mirroredRows(inSqlite.store)).toEqual(rows);
      expect(withinContracts(rows)).toEqual(foldedRows(first.distinct));
    },
  );
});
