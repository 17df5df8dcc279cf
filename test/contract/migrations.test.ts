import Database from "better-sqlite3";
import { describe, expect, it } from "vitest";
import { createMirror } from "../../src/mirror/create-mirror.ts";
import { sqliteDialect } from "../../src/store/sql/dialect.ts";
import { migrationSql, schemaVersion } from "../../src/store/sql/migrate.ts";
import { sqlite } from "../../src/store/sqlite/store.ts";
import { delivery, secret } from "../support/delivery.ts";
import { openMirror, recordingLogger, temporaryFile } from "../support/mirror.ts";
import { startChild } from "../support/process.ts";

function versionsIn(file: string, prefix = "escrow_"): unknown[] {
  const database = new Database(file, { readonly: true });
  try {
    return database.prepare(`select version from ${prefix}migrations order by version`).pluck().all();
  } finally {
    database.close();
  }
}

function tablesIn(file: string): unknown[] {
  const database = new Database(file);
  try {
    return database.prepare("select name from sqlite_master where type = 'table'").pluck().all();
  } finally {
    database.close();
  }
}

const everyVersion = Array.from({ length: schemaVersion }, (_, index) => index + 1);

describe("migrations", () => {
  it("by five processes at once, one of them killed half-way, are each recorded once and leave a usable store", async () => {
    const file = temporaryFile();
    const doomed = await startChild("half-migrated", file);
    expect(await doomed.line()).toBe("half");
    const others = await Promise.all(Array.from({ length: 4 }, () => startChild("open-store", file)));
    for (const other of others) expect(await other.line()).toBe("opening");
    doomed.process.kill("SIGKILL");
    expect(await doomed.ended).toBe("SIGKILL");
    for (const other of others) {
      expect(await other.line()).toBe("open");
      expect(await other.ended, other.errors()).toBe(0);
    }
    expect(versionsIn(file)).toEqual(everyVersion);
    const mirror = await openMirror({ store: sqlite(file), migrate: "check" });
    expect((await mirror.receive(delivery("contract.created"))).status).toBe(200);
  });

  it("of two stores of one process at once are each recorded once", async () => {
    const file = temporaryFile();
    await Promise.all(Array.from({ length: 5 }, () => openMirror({ store: sqlite(file) })));
    expect(versionsIn(file)).toEqual(everyVersion);
  });

  it("are run once, and told of in the log", async () => {
    const file = temporaryFile();
    const logger = recordingLogger();
    await openMirror({ store: sqlite(file), logger });
    await openMirror({ store: sqlite(file), logger });
    expect(logger.lines.filter(({ message }) => message.includes("migrated"))).toMatchObject([
      { level: "info", fields: { from: 0, to: schemaVersion } },
    ]);
  });

  it("are refused by migrate: check, which makes no table", async () => {
    const file = temporaryFile();
    await expect(openMirror({ store: sqlite(file), migrate: "check" })).rejects.toMatchObject({
      code: "schema-version",
    });
    expect(tablesIn(file)).toEqual([]);
  });

  it("run by hand from their SQL satisfy migrate: check", async () => {
    const file = temporaryFile();
    const database = new Database(file);
    for (const statement of migrationSql(
      sqliteDialect,
      { schema: null, prefix: "escrow_" },
      "2026-01-01T00:00:00Z",
    ))
      database.exec(statement);
    database.close();
    const mirror = await openMirror({ store: sqlite(file), migrate: "check" });
    expect((await mirror.receive(delivery("contract.created"))).status).toBe(200);
    expect(versionsIn(file)).toEqual(everyVersion);
  });

  it.each(["auto", "check"] as const)("of a newer release are refused with migrate: %s", async (migrate) => {
    const file = temporaryFile();
    await (await openMirror({ store: sqlite(file) })).close();
    const database = new Database(file);
    database
      .prepare("insert into escrow_migrations (version, name, applied_at) values (99, 'later', '')")
      .run();
    database.close();
    const opening = createMirror({ store: sqlite(file), migrate, webhook: { secrets: secret } });
    await expect(opening).rejects.toMatchObject({ code: "schema-version" });
    await expect(opening).rejects.toThrow(/99.*Upgrade escrow-mirror/);
  });

  it.each(["auto", "check"] as const)(
    "of an unreleased checkout are refused with migrate: %s",
    async (migrate) => {
      const file = temporaryFile();
      await (await openMirror({ store: sqlite(file) })).close();
      const database = new Database(file);
      database.exec("update escrow_migrations set name = '0001-older' where version = 1");
      database.close();
      const opening = openMirror({ store: sqlite(file), migrate });
      await expect(opening).rejects.toMatchObject({ code: "schema-version" });
      await expect(opening).rejects.toThrow(/0001-older.*Move the database away.*import your contracts/);
    },
  );

  it.each([
    ["contracts", "create table escrow_contracts (id integer)"],
    ["migrations", "create table escrow_migrations (id integer)"],
  ])("leave a host's table of the name %s alone, and say what to do", async (table, sql) => {
    const file = temporaryFile();
    const database = new Database(file);
    database.exec(sql);
    const opening = createMirror({ store: sqlite(file), webhook: { secrets: secret } });
    await expect(opening).rejects.toMatchObject({
      code: "invalid-configuration",
      message: expect.stringMatching(
        `${file} holds a table escrow_${table} that is not the mirror's\\. .*prefix`,
      ),
    });
    expect(tablesIn(file)).toEqual([`escrow_${table}`]);
    database.close();
  });

  it("of two prefixes live in one file beside the host's own tables", async () => {
    const file = temporaryFile();
    const host = new Database(file);
    host.exec("create table contracts (id text)");
    host.close();
    const one = await openMirror({ store: sqlite({ path: file, prefix: "one_" }) });
    const two = await openMirror({ store: sqlite({ path: file, prefix: "two_" }) });
    await one.receive(delivery("contract.created"));
    expect((await one.contracts.count()).total).toBe(1);
    expect((await two.contracts.count()).total).toBe(0);
    expect(tablesIn(file)).toEqual(expect.arrayContaining(["contracts", "one_contracts", "two_contracts"]));
  });
});
