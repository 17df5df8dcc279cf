import Database from "better-sqlite3";
import { Kysely, sql } from "kysely";
import { describe, expect, it } from "vitest";
import { createLock } from "../../../../src/shared/lock.ts";
import { browseAlone } from "../../../../src/store/sqlite/kysely.ts";
import { sqlite } from "../../../../src/store/sqlite/store.ts";
import { delivery } from "../../../support/delivery.ts";
import { openMirror, temporaryFile } from "../../../support/mirror.ts";
import { openFiles } from "../../../support/open-files.ts";

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

  it.each(["a file", ":memory:"])("refuses a write, and says so, on %s", async (place) => {
    const mirror = await openMirror({ store: sqlite(place === ":memory:" ? place : temporaryFile()) });
    const { db } = mirror;
    for (const write of [
      db.deleteFrom("contracts"),
      db.updateTable("contracts").set({ status: "Released" }),
      db.insertInto("contracts").values({} as never),
    ])
      await expect(write.execute()).rejects.toMatchObject({
        code: "invalid-argument",
        message: expect.stringMatching(/^mirror\.db can only read/) as unknown,
      });
  });

  it("can't write raw SQL to a file", async () => {
    const { db } = await openMirror({ store: sqlite(temporaryFile()) });
    await expect(sql`delete from escrow_contracts`.execute(db)).rejects.toThrow(/readonly/);
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

/** `mirror.db` as it is on a file, with less patience. */
function openPatientFor(waitMs: number) {
  const handle = new Database(":memory:");
  handle.exec("create table contracts (id text); insert into contracts values ('A'), ('B')");
  const { dialect } = browseAlone(handle, createLock(), waitMs);
  const db = new Kysely<{ contracts: { id: string } }>({ dialect });
  const all = db.selectFrom("contracts").selectAll();
  const stream = async (work: (row: { id: string }) => Promise<unknown>): Promise<void> => {
    for await (const row of all.stream()) await work(row);
  };
  return { db, stream, ask: () => all.execute() };
}

describe("mirror.db that would wait for itself is told so", () => {
  const refusal = { code: "store-unavailable", message: expect.stringMatching(/can't get one/) as string };
  type Opened = ReturnType<typeof openPatientFor>;
  const selfish: Readonly<Record<string, (opened: Opened) => Promise<unknown>>> = {
    "a query while it streams": ({ stream, ask }) => stream(ask),
    "a query inside its own transaction": ({ db, ask }) => db.transaction().execute(ask),
    "a transaction inside its own transaction": ({ db, ask }) =>
      db.transaction().execute(() => db.transaction().execute(ask)),
    "a query while it holds the connection": ({ db, ask }) => db.connection().execute(ask),
    "a stream while it streams": ({ stream, ask }) => stream(() => stream(ask)),
    "a stream inside its own transaction": ({ db, stream }) =>
      db.transaction().execute(() => stream(async () => undefined)),
  };

  it.each(Object.entries(selfish))("%s; what comes after it is answered", async (_, work) => {
    const opened = openPatientFor(20);
    await expect(work(opened)).rejects.toMatchObject(refusal);
    expect(await opened.ask()).toHaveLength(2);
  });

  it("queries that only come together wait their turn", async () => {
    const { db, ask } = openPatientFor(5000);
    const held = db.transaction().execute(async (trx) => {
      await new Promise((resolve) => setTimeout(resolve, 20));
      return trx.selectFrom("contracts").selectAll().execute();
    });
    expect((await Promise.all([held, ask(), ask()])).map(({ length }) => length)).toEqual([2, 2, 2]);
  });
});
