import { once } from "node:events";
import { existsSync } from "node:fs";
import type { Worker } from "node:worker_threads";
import Database from "better-sqlite3";
import { describe, expect, it, vi } from "vitest";
import { createCheckpoints } from "../../../src/store/sqlite-checkpoints.ts";
import { sqlite } from "../../../src/store/sqlite-store.ts";
import { delivery } from "../../support/delivery.ts";
import { openMirror, temporaryFile } from "../../support/mirror.ts";
import { startChild } from "../../support/process.ts";
import { pagesBroughtOver } from "../../support/wal.ts";

type Receiving = Awaited<ReturnType<typeof openMirror>>;

async function receiveOneByOne(mirror: Receiving, from: number, to: number): Promise<void> {
  for (let index = from; index < to; index++)
    expect((await mirror.receive(delivery("contract.created", { id: `e-${index}` }))).status).toBe(200);
}

function rowsIn(file: string): unknown {
  const database = new Database(file, { readonly: true });
  try {
    return database.prepare("select count(*) from escrow_deliveries").pluck().get();
  } finally {
    database.close();
  }
}

const filesOf = (file: string) => ["", "-wal", "-shm"].map((suffix) => existsSync(file + suffix));

/** The thread that is started next. */
async function nextThread(): Promise<Worker> {
  const [thread] = (await once(process, "worker")) as [Worker];
  return thread;
}

describe("checkpoints", () => {
  it("are made while the mirror receives, long before the writer would make one", async () => {
    const file = temporaryFile();
    const mirror = await openMirror({ store: sqlite(file) });
    await receiveOneByOne(mirror, 0, 40);
    await vi.waitFor(() => expect(pagesBroughtOver(file)).toBeGreaterThan(0), { timeout: 20_000 });
    expect(rowsIn(file)).toBe(40);
  });

  it("are over when the mirror is closed: one file is left, with everything in it", async () => {
    const file = temporaryFile();
    const mirror = await openMirror({ store: sqlite(file) });
    await receiveOneByOne(mirror, 0, 40);
    await mirror.close();
    expect(filesOf(file)).toEqual([true, false, false]);
    expect(rowsIn(file)).toBe(40);
  });

  it("keep no process alive that does not close its mirror", async () => {
    const file = temporaryFile();
    const child = startChild("leave-store", file);
    const received = Number(await child.line());
    expect(await child.ended, child.errors()).toBe(0);
    expect(rowsIn(file)).toBe(received);
  });

  it("whose thread ends under them leave the mirror receiving, and closing as before", async () => {
    const file = temporaryFile();
    const mirror = await openMirror({ store: sqlite(file) });
    const started = nextThread();
    await receiveOneByOne(mirror, 0, 20);
    await (await started).terminate();
    await receiveOneByOne(mirror, 20, 60);
    await mirror.close();
    expect(filesOf(file)).toEqual([true, false, false]);
    expect(rowsIn(file)).toBe(60);
  });

  it("that can't be made fail no commit, before the thread has said so and after, and close", async () => {
    const checkpoints = createCheckpoints(`${temporaryFile()}/no/such/folder.db`);
    const commit = () => expect(() => checkpoints.committed()).not.toThrow();
    const started = nextThread();
    for (let each = 0; each < 40; each++) commit();
    const thread = await started;
    await new Promise((resolve) => thread.once("exit", resolve));
    for (let each = 0; each < 40; each++) commit();
    await expect(checkpoints.close()).resolves.toBeUndefined();
    commit();
    await expect(checkpoints.close()).resolves.toBeUndefined();
  });
});
