import { chmodSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import Database from "better-sqlite3";
import { describe, expect, it } from "vitest";
import { sqlite } from "../../../../src/store/sqlite/store.ts";
import { delivery, signed } from "../../../support/delivery.ts";
import { openMirror, temporaryFile } from "../../../support/mirror.ts";
import { openFiles } from "../../../support/open-files.ts";

describe("sqlite()", () => {
  it("writes durably: a WAL file, and every commit on the disk before it returns", async () => {
    const file = temporaryFile();
    await openMirror({ store: sqlite(file) });
    const beside = new Database(file);
    expect(beside.pragma("journal_mode", { simple: true })).toBe("wal");
    beside.close();
    const lent = new Database(":memory:");
    await openMirror({ store: sqlite({ database: lent }) });
    expect(lent.pragma("synchronous", { simple: true })).toBe(2);
  });

  it("a new file gives pages back to the disk, and what is deleted is overwritten; one with tables stays as it is", async () => {
    const file = temporaryFile();
    await openMirror({ store: sqlite(file) });
    const theirs = temporaryFile();
    const before = new Database(theirs);
    before.exec("create table theirs (x)");
    const mirror = await openMirror({ store: sqlite(theirs) });
    await mirror.close();
    before.close();
    // 2 is incremental, 0 none.
    expect([vacuumOf(file), vacuumOf(theirs)]).toEqual([2, 0]);
  });

  it("nothing of a payload that is deleted is left in the file", async () => {
    const file = temporaryFile();
    const store = sqlite(file);
    const mirror = await openMirror({ store });
    const body = JSON.stringify({ note: "a-telling-word ".repeat(2000) });
    for (let n = 0; n < 5; n++) await mirror.receive(signed(`${body}${n}`));
    await store.transaction((tx) => tx.remove("payloads", [{ field: "receivedAt", op: ">=", value: "" }]));
    await mirror.close();
    expect(readFileSync(file).includes("a-telling-word")).toBe(false);
  });

  it("keeps what it holds over a restart", async () => {
    const file = temporaryFile();
    const before = await openMirror({ store: sqlite(file) });
    await before.receive(delivery("contract.created", { id: "e", seconds: 0 }));
    await before.close();
    const after = await openMirror({ store: sqlite(file) });
    expect(await after.contracts.get("CNT-1")).toMatchObject({ status: "pending" });
    expect((await after.receive(delivery("contract.created", { id: "e", seconds: 0 }))).outcome).toBe(
      "duplicate",
    );
  });

  it("leaves a lent handle in memory open, and uses it for itself alone while it works", async () => {
    const lent = new Database(":memory:");
    const mirror = await openMirror({ store: sqlite({ database: lent }) });
    await mirror.receive(delivery("contract.created"));
    await mirror.close();
    expect(lent.prepare("select count(*) from escrow_contracts").pluck().get()).toBe(1);
    lent.close();
  });

  it("works on a lent handle that distrusts its schema", async () => {
    const lent = new Database(":memory:");
    lent.pragma("trusted_schema = off");
    const mirror = await openMirror({ store: sqlite({ database: lent }) });
    expect((await mirror.receive(delivery("contract.created"))).outcome).toBe("applied");
  });

  it("leaves the temporary tables of a lent handle", async () => {
    const lent = new Database(":memory:");
    lent.exec("create temp table theirs (x)");
    await openMirror({ store: sqlite({ database: lent }) });
    expect(lent.prepare("select count(*) from theirs").pluck().get()).toBe(0);
  });

  it("is not opened on a lent handle that is inside a transaction of its owner", async () => {
    const lent = new Database(":memory:");
    lent.exec("begin");
    const opening = openMirror({ store: sqlite({ database: lent }) });
    await expect(opening).rejects.toMatchObject({ code: "store-unavailable" });
    lent.exec("commit");
    await expect(openMirror({ store: sqlite({ database: lent }) })).resolves.toBeDefined();
  });

  it("answers 503 while the owner of a lent handle is inside a transaction of its own", async () => {
    const lent = new Database(":memory:");
    const mirror = await openMirror({ store: sqlite({ database: lent }) });
    lent.exec("begin");
    expect(await mirror.receive(delivery("contract.created"))).toMatchObject({
      status: 503,
      reason: "store-unavailable",
    });
    lent.exec("commit");
    expect((await mirror.receive(delivery("contract.created"))).outcome).toBe("applied");
  });

  it("opens connections of its own beside a lent handle on a file", async () => {
    const lent = new Database(temporaryFile());
    const mirror = await openMirror({ store: sqlite({ database: lent }) });
    lent.exec("begin");
    expect((await mirror.receive(delivery("contract.created"))).status).toBe(200);
    lent.exec("rollback");
    await mirror.close();
    expect(lent.open).toBe(true);
    expect(lent.prepare("select count(*) from escrow_contracts").pluck().get()).toBe(1);
    lent.close();
  });

  it("leaves no file open where it is not opened, and none where it is closed", async () => {
    const file = temporaryFile();
    const locker = new Database(file);
    locker.exec("begin exclusive; create table theirs (x)");
    const refuse = () =>
      expect(openMirror({ store: sqlite(file, { busyTimeoutMs: 0 }) })).rejects.toMatchObject({
        code: "store-unavailable",
      });
    // While the file is locked SQLite keeps one descriptor, for whoever opens it next: closing it would unlock.
    await refuse();
    const before = openFiles(file);
    for (let time = 0; time < 3; time++) await refuse();
    expect(openFiles(file)).toBe(before);
    locker.close();
    await (await openMirror({ store: sqlite(file) })).close();
    expect(openFiles(file)).toBe(0);
  });

  it("is not opened on a file that this process may only read, though SQLite would begin a transaction there", async () => {
    const file = temporaryFile();
    await (await openMirror({ store: sqlite(file) })).close();
    const opening = await asStranger(file, () => openMirror({ store: sqlite(file) }).catch(toError));
    expect(opening).toMatchObject({ code: "store-unavailable" });
    expect(opening).toHaveProperty("message", expect.stringMatching(/SQLITE_READONLY.*owner/));
    const mirror = await openMirror({ store: sqlite(file) });
    expect((await mirror.receive(delivery("contract.created"))).status).toBe(200);
  });

  it("opens the file of a lent handle, whichever folder the process is in by then", async () => {
    const folder = dirname(temporaryFile());
    mkdirSync(join(folder, "elsewhere"));
    const home = process.cwd();
    process.chdir(folder);
    const lent = new Database("escrow.db");
    process.chdir("elsewhere");
    const mirror = await openMirror({ store: sqlite({ database: lent }) }).finally(() => process.chdir(home));
    await mirror.receive(delivery("contract.created"));
    expect(lent.prepare("select count(*) from escrow_contracts").pluck().get()).toBe(1);
    expect(existsSync(join(folder, "elsewhere", "escrow.db"))).toBe(false);
    lent.close();
  });

  it("says store-unavailable of a lent handle that is closed", async () => {
    const lent = new Database(temporaryFile());
    lent.close();
    await expect(openMirror({ store: sqlite({ database: lent }) })).rejects.toMatchObject({
      code: "store-unavailable",
    });
  });

  it("is not usable before it is opened", async () => {
    const store = sqlite(":memory:");
    await expect(store.read(async () => 1)).rejects.toMatchObject({ code: "store-unavailable" });
    expect(() => store.db).toThrow(expect.objectContaining({ code: "store-unavailable" }));
  });
});

/** Runs `work` as one who may write in the file's folder, and the file only read: the tests may run as root, who may all. */
async function asStranger<T>(file: string, work: () => Promise<T>): Promise<T> {
  const isRoot = process.geteuid?.() === 0;
  chmodSync(dirname(file), 0o777);
  chmodSync(file, 0o444);
  if (isRoot) process.seteuid?.(65_534);
  try {
    return await work();
  } finally {
    if (isRoot) process.seteuid?.(0);
    chmodSync(file, 0o644);
  }
}

function vacuumOf(path: string): unknown {
  const beside = new Database(path, { readonly: true });
  const mode = beside.pragma("auto_vacuum", { simple: true });
  beside.close();
  return mode;
}

function toError(error: unknown): unknown {
  return error;
}
