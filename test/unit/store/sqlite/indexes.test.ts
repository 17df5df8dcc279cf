import Database from "better-sqlite3";
import { Kysely, SqliteDialect } from "kysely";
import { describe, expect, it } from "vitest";
import { createStatements, type AnyDatabase } from "../../../../src/store/sql/statements.ts";
import { createRowStatements } from "../../../../src/store/sqlite/statements.ts";
import { selective } from "../../../../src/store/sqlite/selective.ts";
import { sqlite } from "../../../../src/store/sqlite/store.ts";
import type { Condition, FieldOf } from "../../../../src/store/store.ts";
import { tables, type TableName, type Tables } from "../../../../src/store/tables.ts";
import { delivery } from "../../../support/delivery.ts";
import { openMirror, temporaryFile } from "../../../support/mirror.ts";

describe("the tables on SQLite", () => {
  it.each([
    ["id", "'wh-1'"],
    ["payload_id", "'e-1'"],
    ["content_key", "(select content_key from escrow_deliveries where id = 'wh-1')"],
  ])("let any program write, and keep %s unique there too", async (column, taken) => {
    const { file, mirror } = await withTwo();
    const beside = new Database(file);
    const change = (value: string) =>
      beside.exec(`update escrow_deliveries set ${column} = ${value} where id = 'wh-2'`);
    expect(() => change(taken)).toThrow("UNIQUE");
    change(column === "content_key" ? "x'ff'" : "'new'");
    beside.close();
    expect((await mirror.deliveries.list()).items).toHaveLength(2);
  });

  it("hold no trigger, no view and no function of ours: any tool finds a delivery by its id, by an index", async () => {
    const { file } = await withTwo();
    const beside = new Database(file, { readonly: true });
    const kinds = beside.prepare("select distinct type from sqlite_master order by 1").pluck().all();
    expect(kinds).toEqual(["index", "table"]);
    for (const column of ["id", "payload_id"])
      expect(scansOf(beside, `select * from escrow_deliveries where ${column} = ?`)).toEqual([]);
    beside.close();
  });

  it("are asked for a delivery without reading all of them", async () => {
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
            rowStatements.lookup("deliveries", field, []),
            rowStatements.update("deliveries", field, ["attempts"]),
            statements.find("deliveries", { where: [{ field, op: "=", value: "wh-1" }] }),
          ])
            expect(scansOf(lent, sql)).toEqual([]);
      }
    },
  );

  it.each([
    ["deliveries", "contractId"],
    ["deliveries", "contentKey"],
    ["inputs", "contractId"],
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
      expect(scansOf(lent, rowStatements.lookup(table, field, []).sql)).toEqual([]);
      for (const condition of conditionsOn(table, field))
        for (const { sql } of asking<TableName>(table, field as never, [condition] as never))
          expect(scansOf(lent, sql)).toEqual([]);
    }
  });
});

/** Of tables that are numbered, many values are asked for one by one: a list could cost more than a young table's scan. */
function conditionsOn(table: TableName, field: string): object[] {
  const one = { field, op: "=", value: "01" };
  const some = { field, op: "in", value: ["01", "02", "03"] };
  return "seq" in tables[table].columns || tables[table].key[0] !== field ? [one] : [one, some];
}

/** The statements that ask for rows by conditions. */
function asking<Name extends TableName>(
  table: Name,
  field: FieldOf<Name>,
  where: readonly Condition<Tables[Name]>[],
) {
  return [statements.find(table, { where, orderBy: [field] }), statements.remove(table, where)];
}

/** The steps of the plan that go through all rows of a table. */
function scansOf(database: Database.Database, sql: string): string[] {
  const values = Array.from({ length: sql.split("?").length - 1 }, () => null);
  const steps = database.prepare(`explain query plan ${sql}`).all(...values) as { detail: string }[];
  return steps.map(({ detail }) => detail).filter((detail) => /^SCAN (?!CONSTANT ROW)/.test(detail));
}

const compiler = new Kysely<AnyDatabase>({
  dialect: new SqliteDialect({ database: new Database(":memory:") }),
});
const place = { schema: null, prefix: "escrow_" };
const statements = createStatements(compiler, place, selective);
const rowStatements = createRowStatements(compiler, place);

async function withTwo() {
  const file = temporaryFile();
  const mirror = await openMirror({ store: sqlite(file) });
  for (const n of [1, 2])
    await mirror.receive(
      delivery("contract.created", { id: `e-${n}`, contractId: `C-${n}` }, { webhookId: `wh-${n}` }),
    );
  return { file, mirror };
}
