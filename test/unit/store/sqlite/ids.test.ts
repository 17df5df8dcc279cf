import Database from "better-sqlite3";
import { assert, property, string } from "fast-check";
import { Kysely, SqliteDialect } from "kysely";
import { describe, expect, it } from "vitest";
import { sqliteDialect } from "../../../../src/store/sql/dialect.ts";
import { initial } from "../../../../src/store/sql/migrations/0001-initial.ts";
import { createSqliteSession } from "../../../../src/store/sqlite/handle.ts";
import { defineIdHash, hashOfId, moveSlices } from "../../../../src/store/sqlite/ids.ts";
import { sqliteIndexing } from "../../../../src/store/sqlite/indexing.ts";
import { sqlite } from "../../../../src/store/sqlite/store.ts";
import { createStatements, type AnyDatabase } from "../../../../src/store/sql/statements.ts";
import type { Condition, FieldOf } from "../../../../src/store/store.ts";
import type { TableName, Tables } from "../../../../src/store/tables.ts";
import { delivery, sha256 } from "../../../support/delivery.ts";
import { openMirror, temporaryFile } from "../../../support/mirror.ts";

/** Found by hashing forty million of their kind. */
const collisions = [
  ["wh-295945", "wh-1280156"],
  ["wh-5860262", "wh-28909441"],
] as const;

describe("the hash of an id", () => {
  it("is the same for ever: databases hold it", () => {
    expect(["", "wh-sample-1", "a1b2c3d4-e5f6-7890-abcd-ef1234567890", "\u00e9\ud800"].map(hashOfId)).toEqual(
      [94142428676096, 10016612587947, 123563357858992, 49871166765975],
    );
  });

  it("is an integer of 47 bits, whatever the id", () => {
    assert(
      property(string({ unit: "binary" }), (id) => {
        const hash = hashOfId(id);
        expect(Number.isSafeInteger(hash) && hash >= 0 && hash < 2 ** 47).toBe(true);
      }),
    );
  });

  it.each([
    ["numbered", (n: number) => `wh-${n}`],
    ["hashes themselves", (n: number) => sha256(String(n))],
    ["alike at their ends", (n: number) => `webhook-${String(n).padStart(8, "0")}-delivery`],
  ])("spreads ids that are %s evenly", (_, toId) => {
    const buckets = new Uint32Array(256);
    for (let n = 0; n < 100_000; n++) buckets[Math.floor(hashOfId(toId(n)) / 2 ** 39)]! += 1;
    const expected = 100_000 / 256;
    const chiSquare = buckets.reduce((sum, count) => sum + (count - expected) ** 2 / expected, 0);
    // 255 degrees of freedom: above 400 comes once in sixty million times.
    expect(chiSquare).toBeLessThan(400);
  });
});

describe("ids of deliveries on SQLite", () => {
  it("are told apart where their hashes are equal", async () => {
    const mirror = await openMirror({ store: sqlite(temporaryFile()) });
    for (const [one, other] of collisions) {
      expect(hashOfId(one)).toBe(hashOfId(other));
      const [first, second] = [one, other].map((id) =>
        delivery("contract.created", { id: `e-${id}`, contractId: id }, { webhookId: id }),
      );
      // In one commit.
      const results = await Promise.all([first, second].map((each) => mirror.receive(each!)));
      expect(results.map(({ outcome }) => outcome)).toEqual(["applied", "applied"]);
      expect((await mirror.receive(second!)).outcome).toBe("duplicate");
      expect(await mirror.deliveries.get(one)).toMatchObject({ webhookId: one, attempts: 1 });
      expect(await mirror.deliveries.get(other)).toMatchObject({ webhookId: other, attempts: 2 });
    }
  });

  it("are told apart as payload ids too, also from webhook ids", async () => {
    const mirror = await openMirror({ store: sqlite(temporaryFile()) });
    const [[one, other], [third, fourth]] = collisions;
    const outcomes: string[] = [];
    for (const [webhookId, id] of [
      [one, other],
      [other, one],
      [third, third],
      ["wh-new", fourth],
      ["wh-newer", third],
    ] as const)
      outcomes.push((await mirror.receive(delivery("contract.created", { id }, { webhookId }))).outcome);
    // The last one's payload id is known.
    expect(outcomes).toEqual(["applied", "applied", "applied", "applied", "duplicate"]);
  });

  it("are all known, while slices move on from each of the tables into the next", async () => {
    const file = temporaryFile();
    const mirror = await openMirror({ store: sqlite(file) });
    const count = 3000;
    const sent = Array.from({ length: count }, (_, n) =>
      delivery("contract.created", { id: `e-${n}`, contractId: `C-${n % 50}` }, { webhookId: `wh-${n}` }),
    );
    for (let start = 0; start < count; start += 100)
      await Promise.all(sent.slice(start, start + 100).map((each) => mirror.receive(each)));
    const beside = new Database(file, { readonly: true });
    const countOf = (sql: string) => beside.prepare(sql).pluck().get() as number;
    const levels = ["small", "middle", "large"].map((level) => `escrow_delivery_id_hashes_${level}`);
    const counts = levels.map((level) => countOf(`select count(*) from ${level}`));
    expect(Math.min(...counts)).toBeGreaterThan(0);
    expect(sum(counts)).toBe(2 * count);
    for (const level of levels)
      expect(countOf(`select count(*) from ${level} where typeof(hash) <> 'integer'`)).toBe(0);
    beside.close();
    const again = await Promise.all(sent.map((each) => mirror.receive(each)));
    expect(new Set(again.map(({ outcome }) => outcome))).toEqual(new Set(["duplicate"]));
    for (const n of [0, 1234, count - 1])
      expect(await mirror.deliveries.get(`wh-${n}`)).toMatchObject({ payloadId: `e-${n}`, attempts: 2 });
  });

  it("keep the small table near 4,096 rows and the middle one near 65,536", async () => {
    const { handle, session } = openTables();
    const enter = handle.prepare("insert into delivery_id_hashes_small values (?, ?)");
    let seq = 0;
    for (let commit = 0; commit < 2400; commit++) {
      const ids = Array.from({ length: 128 }, (_, index) => `wh-${seq + index}`);
      for (const id of ids) enter.run(hashOfId(id), ++seq);
      await moveSlices(session, { schema: null, prefix: "" }, ids);
    }
    const [small = 0, middle = 0, large = 0] = ["small", "middle", "large"].map((level) =>
      Number(handle.prepare(`select count(*) from delivery_id_hashes_${level}`).pluck().get()),
    );
    expect(small).toBeGreaterThan(2500);
    expect(small).toBeLessThan(6500);
    expect(middle).toBeGreaterThan(40_000);
    expect(middle).toBeLessThan(100_000);
    expect(small + middle + large).toBe(seq);
  });

  it("can't be changed to another delivery's", async () => {
    const { file } = await withTwo();
    const beside = connect(file);
    const change = (column: string, value: string) =>
      beside.prepare(`update escrow_deliveries set ${column} = ? where id = 'wh-2'`).run(value);
    expect(() => change("id", "wh-1")).toThrow("UNIQUE");
    expect(() => change("payload_id", "e-1")).toThrow("UNIQUE");
    change("id", "wh-3");
    expect(() => change("id", "wh-1")).not.toThrow();
    beside.close();
  });

  it("are not written by a connection that can't keep them apart, which still reads", async () => {
    const { file, mirror } = await withTwo();
    const stranger = new Database(file);
    expect(stranger.prepare("select count(*) from escrow_deliveries").pluck().get()).toBe(2);
    expect(() => stranger.prepare("insert into escrow_deliveries select * from escrow_deliveries")).toThrow(
      "escrow_id_hash",
    );
    stranger.close();
    expect((await mirror.deliveries.list()).items).toHaveLength(2);
  });

  it("are found without reading all deliveries", async () => {
    const lent = new Database(":memory:");
    const asked = new Set<string>();
    const prepare = lent.prepare.bind(lent);
    lent.prepare = (sql: string) => {
      asked.add(sql);
      return prepare(sql);
    };
    const mirror = await openMirror({ store: sqlite({ database: lent }) });
    const first = delivery("contract.created", { id: "e-1" }, { webhookId: "wh-1" });
    const otherContent = delivery("contract.created", { id: "e-1", title: "t" }, { webhookId: "wh-2" });
    const otherSubject = delivery("contract.approved", { id: "e-1" }, { webhookId: "wh-3" });
    for (const each of [first, first, otherContent, otherSubject]) await mirror.receive(each);
    const [aside] = (await mirror.quarantine.list()).items;
    await (await mirror.deliveries.get(aside!.id))?.body();
    await mirror.quarantine.release(aside!.id);
    expect(await mirror.deliveries.get("wh-9")).toBeUndefined();
    const byAnId = [...asked].filter((sql) => /"(id|payload_id|webhook_id)" = \?/.test(sql));
    expect(byAnId.length).toBeGreaterThan(5);
    expect(byAnId.flatMap((sql) => scansOf(lent, sql))).toEqual([]);
  });
});

describe("a look-up on SQLite goes by its index, whatever the statistics of a young file say", () => {
  it.each(["analyze", "pragma optimize = 0x10002", "analyze escrow_deliveries"])(
    "of deliveries by their ids: %s",
    async (takeStatistics) => {
      for (const count of [1, 2, 5, 20, 60]) {
        const lent = new Database(":memory:");
        const mirror = await openMirror({ store: sqlite({ database: lent }) });
        for (let n = 0; n < count; n++)
          await mirror.receive(
            delivery("contract.created", { id: `wh-${n}`, contractId: `C-${n}` }, { webhookId: `wh-${n}` }),
          );
        lent.exec(takeStatistics);
        for (const field of ["id", "payloadId"] as const)
          for (const { sql } of [
            statements.lookup("deliveries", field, []),
            statements.update("deliveries", field, ["attempts"]),
            statements.find("deliveries", { where: [{ field, op: "=", value: "wh-1" }] }),
          ])
            expect(scansOf(lent, sql)).toEqual([]);
        const triggers = lent.prepare("select sql from sqlite_master where type = 'trigger'").pluck().all();
        const conditions = triggers.flatMap((sql) => /\bwhen (.*)$/m.exec(String(sql))?.[1] ?? []);
        expect(conditions).toHaveLength(2);
        for (const condition of conditions)
          expect(scansOf(lent, `select ${condition.replaceAll(/\bnew\.\w+/g, "?")}`)).toEqual([]);
      }
    },
  );

  it.each([
    ["deliveries", "contractId"],
    ["deliveries", "contentKey"],
    ["snapshots", "contractId"],
    ["contracts", "contractId"],
    ["transitions", "contractId"],
    ["anomalies", "contractId"],
    ["milestones", "contractId"],
    ["refunds", "contractId"],
    ["refunds", "refundId"],
    ["payments", "contractId"],
    ["disputes", "contractId"],
  ] as const)("of %s by %s", async (table, field) => {
    const lent = new Database(":memory:");
    await openMirror({ store: sqlite({ database: lent }) });
    lent.exec("analyze");
    // As of one row, or of some that are all alike.
    for (const numbers of ["1 1 1", "9 9 1"]) {
      lent.exec("delete from sqlite_stat1");
      lent.exec(
        `insert into sqlite_stat1 select tbl_name, name, '${numbers}' from sqlite_master where type = 'index'`,
      );
      lent.exec("analyze sqlite_schema");
      expect(scansOf(lent, statements.lookup(table, field, []).sql)).toEqual([]);
      const one = { field, op: "=", value: "01" };
      const some = { field, op: "in", value: ["01", "02", "03"] };
      for (const condition of [one, some])
        for (const { sql } of asking<TableName>(table, field as never, [condition] as never))
          expect(scansOf(lent, sql)).toEqual([]);
    }
  });
});

/** The statements that ask for rows by conditions. */
function asking<Name extends TableName>(
  table: Name,
  field: FieldOf<Name>,
  where: readonly Condition<Tables[Name]>[],
) {
  return [
    statements.find(table, { where, orderBy: [field] }),
    statements.countBy(table, field, where),
    statements.remove(table, where),
  ];
}

/** The steps of the plan that go through all rows of a table. */
function scansOf(database: Database.Database, sql: string): string[] {
  const values = Array.from({ length: sql.split("?").length - 1 }, () => null);
  const steps = database.prepare(`explain query plan ${sql}`).all(...values) as { detail: string }[];
  return steps.map(({ detail }) => detail).filter((detail) => /^SCAN (?!CONSTANT ROW)/.test(detail));
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0);

const place = { schema: null, prefix: "escrow_" };
const compiler = new Kysely<AnyDatabase>({
  dialect: new SqliteDialect({ database: new Database(":memory:") }),
});
const statements = createStatements(compiler, place, sqliteIndexing(place));

async function withTwo() {
  const file = temporaryFile();
  const mirror = await openMirror({ store: sqlite(file) });
  for (const n of [1, 2])
    await mirror.receive(
      delivery("contract.created", { id: `e-${n}`, contractId: `C-${n}` }, { webhookId: `wh-${n}` }),
    );
  return { file, mirror };
}

function connect(file: string) {
  const handle = new Database(file);
  defineIdHash(handle);
  return handle;
}

function openTables() {
  const handle = connect(":memory:");
  for (const statement of initial.statements(sqliteDialect.types, "", "")) handle.exec(statement);
  return { handle, session: createSqliteSession(handle) };
}
