import { chmodSync, existsSync, mkdirSync, readdirSync, readlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import Database from "better-sqlite3";
import { describe, expect, it } from "vitest";
import { sqlite } from "../../../../src/store/sqlite/store.ts";
import { delivery } from "../../../support/delivery.ts";
import { openMirror, temporaryFile } from "../../../support/mirror.ts";

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

  it.each([
    ["an empty path", ""],
    ["a blank path", " "],
    ["an address of the command line", "sqlite:escrow.db"],
    ["an address of a file", "file:escrow.db"],
    ["another database's address", "postgres://localhost/app"],
    ["no path", { path: 7 as unknown as string }],
    ["a longer wait than the service's", { path: "escrow.db", busyTimeoutMs: 20_001 }],
    ["a wait without an end", { path: "escrow.db", busyTimeoutMs: Infinity }],
  ])("refuses %s", (_, target) => {
    expect(() => sqlite(target)).toThrow(expect.objectContaining({ code: "invalid-configuration" }));
  });

  it.each(["a-b", "a b", 'x"; drop table y; --', "x".repeat(41)])("refuses the prefix %j", (prefix) => {
    expect(() => sqlite(":memory:", { prefix })).toThrow(
      expect.objectContaining({ code: "invalid-configuration" }),
    );
  });

  it("says store-unavailable of a folder that does not exist, and of a file that is no database", async () => {
    const missing = openMirror({ store: sqlite(`${dirname(temporaryFile())}/none/escrow.db`) });
    await expect(missing).rejects.toMatchObject({ code: "store-unavailable" });
    const file = temporaryFile();
    writeFileSync(file, "this is no database, and long enough to be read as a header of one".repeat(100));
    await expect(openMirror({ store: sqlite(file) })).rejects.toMatchObject({ code: "store-unavailable" });
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

function toError(error: unknown): unknown {
  return error;
}

/** How many of this process's descriptors are of the file, its log and its index of that. */
function openFiles(file: string): number {
  const targets = readdirSync("/proc/self/fd").map((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`);
    } catch {
      return "";
    }
  });
  return targets.filter((target) => target.startsWith(file)).length;
}

describe("mirror.db", () => {
  it("reads the tables by their names without the prefix", async () => {
    const mirror = await openMirror({ store: sqlite(temporaryFile(), { prefix: "shop_" }) });
    await mirror.receive(delivery("contract.created", { seconds: 0, amount: 12.5 }));
    const rows = await mirror.db
      .selectFrom("contracts")
      .leftJoin("transitions", "transitions.contract_id", "contracts.contract_id")
      .select(["contracts.status", "contracts.amount_minor", "transitions.to_status"])
      .execute();
    expect(rows).toEqual([{ status: "pending", amount_minor: 1250, to_status: "pending" }]);
  });

  it("can't write", async () => {
    const mirror = await openMirror({ store: sqlite(temporaryFile()) });
    await expect(mirror.db.deleteFrom("contracts").execute()).rejects.toThrow(/readonly/);
  });

  it("sees nothing that is not committed, and a transaction of it holds up no delivery", async () => {
    const mirror = await openMirror({ store: sqlite(temporaryFile()) });
    await mirror.receive(delivery("contract.created", { contractId: "A" }));
    const counts = await mirror.db.transaction().execute(async (trx) => {
      const count = () => trx.selectFrom("contracts").select("contract_id").execute();
      const before = await count();
      expect((await mirror.receive(delivery("contract.created", { contractId: "B" }))).status).toBe(200);
      return [before.length, (await count()).length];
    });
    expect(counts).toEqual([1, 1]);
  });

  it("closes with the mirror while it is streamed, and who reads the stream is told", async () => {
    const file = temporaryFile();
    const mirror = await openMirror({ store: sqlite(file) });
    for (const contractId of ["A", "B"])
      await mirror.receive(delivery("contract.created", { id: contractId, contractId }));
    const rows = mirror.db.selectFrom("contracts").select("contract_id").stream();
    expect(await rows.next()).toMatchObject({ value: { contract_id: "A" } });
    await mirror.close();
    expect(openFiles(file)).toBe(0);
    await expect(rows.next()).rejects.toMatchObject({ code: "closed" });
  });

  it("streams to the end on a database in memory, which the mirror and deliveries use meanwhile", async () => {
    const mirror = await openMirror({ store: sqlite(":memory:") });
    for (const contractId of ["A", "B"])
      await mirror.receive(delivery("contract.created", { id: contractId, contractId }));
    const seen: unknown[] = [];
    for await (const { contract_id } of mirror.db.selectFrom("contracts").select("contract_id").stream()) {
      seen.push((await mirror.contracts.get(contract_id))?.status);
      const more = delivery("contract.created", {
        id: `more-${contract_id}`,
        contractId: `more-${contract_id}`,
      });
      expect((await mirror.receive(more)).status).toBe(200);
    }
    expect(seen).toEqual(["pending", "pending"]);
  });

  it("has no transactions on a database in memory, and holds up no delivery there", async () => {
    const mirror = await openMirror({ store: sqlite(":memory:") });
    const within = mirror.db.transaction().execute(async () => mirror.contracts.get("CNT-1"));
    await expect(within).rejects.toMatchObject({ code: "invalid-configuration" });
    const connected = mirror.db.connection().execute(async () => mirror.contracts.get("CNT-1"));
    expect(await connected).toBeUndefined();
    expect((await mirror.receive(delivery("contract.created"))).status).toBe(200);
    expect(await mirror.db.selectFrom("contracts").select("status").execute()).toEqual([
      { status: "pending" },
    ]);
  });

  it("is not there on a store in memory", async () => {
    const mirror = await openMirror();
    expect(() => mirror.db).toThrow(expect.objectContaining({ code: "invalid-configuration" }));
  });
});
