import Database from "better-sqlite3";
import { describe, expect, it } from "vitest";
import { sqlite } from "../../src/store/sqlite/store.ts";
import { delivery } from "../support/delivery.ts";
import { openMirror, storeKinds, temporaryFile, testClock } from "../support/mirror.ts";
import { describePerson } from "./person-contract.ts";
import { describePrune } from "./prune-contract.ts";
import { describeRedact } from "./redact-contract.ts";

for (const [name, create] of storeKinds) {
  describePrune({ name, create });
  describeRedact({ name, create });
  describePerson({ name, create });
}

describe("a file on SQLite", () => {
  it("that the mirror made gives its room back to the disk", async () => {
    const file = temporaryFile();
    const mirror = await fill(file);
    const before = roomOf(file);
    expect(before.pages).toBeGreaterThan(500);
    expect(await mirror.prune({ payloads: 0 })).toMatchObject({ payloads: 100 });
    const after = roomOf(file);
    expect(after.pages).toBeLessThan(before.pages - 400);
    expect(after.free).toBe(0);
  });

  it("that had tables before keeps its free pages, and uses them again", async () => {
    const file = temporaryFile();
    const theirs = new Database(file);
    theirs.exec("create table theirs (x)");
    theirs.close();
    const mirror = await fill(file);
    await mirror.prune({ payloads: 0 });
    expect(roomOf(file).free).toBeGreaterThan(400);
  });
});

async function fill(file: string) {
  const clock = testClock();
  const mirror = await openMirror({ store: sqlite(file), clock });
  const notes = "x".repeat(20_000);
  for (let id = 0; id < 100; id++)
    await mirror.receive(delivery("contract.created", { id: `m-${id}`, contractId: `C-${id}`, notes }));
  clock.advance(1000);
  return mirror;
}

function roomOf(file: string) {
  const beside = new Database(file, { readonly: true });
  const ask = (pragma: string): number => Number(beside.pragma(pragma, { simple: true }));
  const room = { pages: ask("page_count"), free: ask("freelist_count") };
  beside.close();
  return room;
}
