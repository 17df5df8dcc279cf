import { closeSync, existsSync, openSync, readSync } from "node:fs";
import Database from "better-sqlite3";
import { describe, expect, it, vi } from "vitest";
import { createCheckpoints } from "../../../src/store/sqlite-checkpoints.ts";
import { sqlite } from "../../../src/store/sqlite-store.ts";
import { delivery } from "../../support/delivery.ts";
import { openMirror, temporaryFile } from "../../support/mirror.ts";
import { startChild } from "../../support/process.ts";

type Receiving = Awaited<ReturnType<typeof openMirror>>;

async function receiveOneByOne(mirror: Receiving, count: number): Promise<void> {
  for (let index = 0; index < count; index++)
    expect((await mirror.receive(delivery("contract.created", { id: `e-${index}` }))).status).toBe(200);
}

/** How many pages of the WAL the database has: `nBackfill` of the WAL index (sqlite.org/walformat.html §2.3). */
function broughtOver(file: string): number {
  const index = openSync(`${file}-shm`, "r");
  const word = Buffer.alloc(4);
  readSync(index, word, 0, 4, 96);
  closeSync(index);
  return word.readUInt32LE();
}

function rowsIn(file: string): unknown {
  const database = new Database(file, { readonly: true });
  try {
    return database.prepare("select count(*) from escrow_deliveries").pluck().get();
  } finally {
    database.close();
  }
}

describe("checkpoints", () => {
  it("are made while the mirror receives, long before the writer would make one", async () => {
    const file = temporaryFile();
    const mirror = await openMirror({ store: sqlite(file) });
    await receiveOneByOne(mirror, 40);
    await vi.waitFor(() => expect(broughtOver(file)).toBeGreaterThan(0), { timeout: 20_000 });
    expect(rowsIn(file)).toBe(40);
  });

  it("are over when the mirror is closed: one file is left, with everything in it", async () => {
    const file = temporaryFile();
    const mirror = await openMirror({ store: sqlite(file) });
    await receiveOneByOne(mirror, 40);
    await mirror.close();
    expect([file, `${file}-wal`, `${file}-shm`].map((each) => existsSync(each))).toEqual([
      true,
      false,
      false,
    ]);
    expect(rowsIn(file)).toBe(40);
  });

  it("keep no process alive that does not close its mirror", async () => {
    const file = temporaryFile();
    const child = startChild("leave-store", file, "40");
    expect(await child.line()).toBe("received");
    expect(await child.ended, child.errors()).toBe(0);
    expect(rowsIn(file)).toBe(40);
  });

  it("that can't be made harm nothing", async () => {
    const checkpoints = createCheckpoints(`${temporaryFile()}/no/such/folder.db`);
    for (let commit = 0; commit < 100; commit++) checkpoints.committed();
    await checkpoints.close();
    checkpoints.committed();
    await checkpoints.close();
  });
});
