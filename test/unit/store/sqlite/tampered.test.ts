import { statSync } from "node:fs";
import Database from "better-sqlite3";
import { describe, expect, it } from "vitest";
import { sqlite } from "../../../../src/store/sqlite/store.ts";
import { tables } from "../../../../src/store/tables.ts";
import { delivery } from "../../../support/delivery.ts";
import { openMirror, temporaryFile } from "../../../support/mirror.ts";

const drops = (table: string) =>
  `create trigger meddle before insert on escrow_${table} begin select raise(ignore); end`;

describe("tables with which somebody meddled", () => {
  it.each<[what: string, sql: (table: string) => string]>([
    ["a trigger that drops rows", drops],
    [
      "a trigger that removes them afterwards",
      (table) =>
        `create trigger meddle after insert on escrow_${table} begin delete from escrow_${table}; end`,
    ],
    [
      "a trigger that fails",
      (table) =>
        `create trigger meddle before insert on escrow_${table} begin select raise(abort, 'no'); end`,
    ],
    [
      "a view in its place",
      (table) =>
        `alter table escrow_${table} rename to theirs; create view escrow_${table} as select * from theirs`,
    ],
    [
      "a column that nobody fills",
      (table) => `alter table escrow_${table} add column theirs int check (theirs is not null)`,
    ],
    ["nothing in its place", (table) => `drop table escrow_${table}`],
  ])("are told of by opening and health: %s", async (_, meddle) => {
    for (const table of ["deliveries", "contracts"]) {
      const file = temporaryFile();
      const mirror = await openMirror({ store: sqlite(file) });
      expect((await mirror.health()).ok).toBe(true);
      const other = new Database(file);
      other.exec(meddle(table));
      other.close();
      expect((await mirror.health()).ok).toBe(false);
      await mirror.close();
      await expect(openMirror({ store: sqlite(file) })).rejects.toMatchObject({ code: "store-unavailable" });
    }
  });

  it.each(Object.keys(tables))("are named by opening: %s", async (table) => {
    const file = temporaryFile();
    await (await openMirror({ store: sqlite(file) })).close();
    const other = new Database(file);
    other.exec(drops(table));
    other.close();
    await expect(openMirror({ store: sqlite(file) })).rejects.toMatchObject({
      code: "store-unavailable",
      message: expect.stringContaining(`the table ${table} does not return what was written to it`),
    });
  });

  it("are looked for without leaving a row behind", async () => {
    const file = temporaryFile();
    const mirror = await openMirror({ store: sqlite(file) });
    await mirror.receive(delivery("contract.created"));
    const other = new Database(file, { readonly: true });
    const everything = () =>
      Object.keys(tables).map((table) => other.prepare(`select * from escrow_${table}`).all());
    const before = everything();
    expect((await mirror.health()).ok).toBe(true);
    await openMirror({ store: sqlite(file) });
    expect(everything()).toEqual(before);
    other.close();
  });

  it("are looked for without a commit: health writes nothing to the disk, however often it is asked", async () => {
    const file = temporaryFile();
    const mirror = await openMirror({ store: sqlite(file) });
    await mirror.receive(delivery("contract.created"));
    const other = new Database(file, { readonly: true });
    const seen = () => [other.pragma("data_version", { simple: true }), statSync(`${file}-wal`).size];
    const before = seen();
    for (let turn = 0; turn < 20; turn++) expect((await mirror.health()).ok).toBe(true);
    expect(seen()).toEqual(before);
    other.close();
  });
});
