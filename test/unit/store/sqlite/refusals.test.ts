/** What a store on SQLite refuses, and in which words. */
import { dirname } from "node:path";
import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import Database from "better-sqlite3";
import { describe, expect, it } from "vitest";
import { createSandbox } from "../../../../src/sandbox.ts";
import { isEscrowMirrorError } from "../../../../src/shared/errors.ts";
import { sqlite } from "../../../../src/store/sqlite/store.ts";
import type { Store } from "../../../../src/store/store.ts";
import { openMirror, temporaryFile } from "../../../support/mirror.ts";

const invalid = expect.objectContaining({ code: "invalid-configuration" }) as Error;

describe("a path", () => {
  it.each([
    ["an empty path", ""],
    ["a blank path", " "],
    ["an address of the command line", "sqlite:escrow.db"],
    ["an address of a file", "file:escrow.db"],
    ["no path", { path: 7 as unknown as string }],
  ])("is none where %s is given", (_, target) => {
    expect(() => sqlite(target)).toThrow(invalid);
  });

  const addresses = [
    "mysql://u:pass-word@host/db",
    "postgres://u:pass-word@host/db",
    "POSTGRESQL://u:pass-word@host/db",
    "  mysql://u:pass-word@host/db",
    "libsql://host?authToken=pass-word",
    "https://pass-word@host/db",
    "jdbc:mysql://u:pass-word@host/db",
    "sqlite:mysql://u:pass-word@host/db",
    "mysql:u:pass-word@host",
    "//u:pass-word@host/db",
    "u:pass-word@host/db",
    "u:pass-word@tcp(host:3306)/db",
    "Server=host;Uid=u;Pwd=pass-word;",
    "host=h user=u password=pass-word",
    "host=h user=u password = 'pass-word'",
  ];

  it.each(addresses)("that is an address is refused, its password not repeated: %s", async (path) => {
    const refusals = [
      ...[path, { path }].map((target) => errorOf(() => sqlite(target))),
      await createSandbox({ port: 0, data: path }).catch((error: unknown) => error),
      await createSandbox({ port: 0, record: path }).catch((error: unknown) => error),
    ];
    for (const refusal of refusals) {
      expect(refusal).toMatchObject({ code: "invalid-configuration" });
      expect(String(refusal)).not.toContain("pass-word");
    }
  });

  it.each([
    "escrow.db",
    "./a:b.db",
    "C:\\data\\a@b.db",
    "/data/@app/escrow.db",
    "a@b.db",
    "data (1).db",
    ":memory:",
  ])("is one: %s", (path) => {
    expect(() => sqlite(path)).not.toThrow();
  });

  it("into a folder that does not exist is store-unavailable", async () => {
    const missing = openMirror({ store: sqlite(`${dirname(temporaryFile())}/none/escrow.db`) });
    await expect(missing).rejects.toMatchObject({ code: "store-unavailable" });
  });
});

describe("a prefix", () => {
  it.each(["a-b", "a b", 'x"; drop table y; --', "x".repeat(41), "sqlite_", "SQLite_", "sqlite_mirror_"])(
    "is refused: %j",
    (prefix) => {
      expect(() => sqlite(":memory:", { prefix })).toThrow(invalid);
    },
  );

  it.each(["sqlite", "_sqlite_", "my_sqlite_", ""])("is one: %j", async (prefix) => {
    await expect(openMirror({ store: sqlite(":memory:", { prefix }) })).resolves.toBeDefined();
  });

  it.each(["auto", "check"] as const)(
    "that differs from another only in case is refused with migrate: %s, for the tables would be the same",
    async (migrate) => {
      const file = temporaryFile();
      await openMirror({ store: sqlite(file, { prefix: "shop_" }) });
      await expect(openMirror({ store: sqlite(file, { prefix: "Shop_" }), migrate })).rejects.toMatchObject({
        code: "invalid-configuration",
        message: expect.stringMatching(/holds shop_migrations, .*prefix "Shop_"/),
      });
    },
  );

  it.each([
    ["a table of another case", "create table Escrow_Contracts (x)"],
    ["a view", "create view escrow_contracts as select 1"],
    ["an index", "create table theirs (x); create index escrow_payments on theirs (x)"],
    [
      "an index of a name of ours",
      "create table theirs (x); create index escrow_payloads_by_arrival on theirs (x)",
    ],
    ["a table of the name of our index", "create table escrow_payloads_by_arrival (x)"],
  ])("that something of the host's has already is refused, and nothing is made: %s", async (_, sql) => {
    const file = temporaryFile();
    const host = new Database(file);
    host.exec(sql);
    const names = () => host.prepare("select name from sqlite_master order by 1").pluck().all();
    const before = names();
    await expect(openMirror({ store: sqlite(file) })).rejects.toMatchObject({
      code: "invalid-configuration",
    });
    expect(names()).toEqual(before);
    host.close();
  });
});

describe("a damaged file", () => {
  it("whose header has any one byte wrong opens, or is refused in words of ours", async () => {
    const good = temporaryFile();
    await (await openMirror({ store: sqlite(good) })).close();
    const bytes = readFileSync(good);
    const file = temporaryFile();
    for (let place = 0; place < 100; place++)
      for (const value of [0, 5, 0xff]) {
        const damaged = Buffer.from(bytes);
        damaged[place] = value;
        await expectOurs(sqlite(file), `byte ${place} is ${value}`, () => writeFileSync(file, damaged));
      }
  });

  it.each([1, 15, 16, 99, 100, 512, 4095, 4096, 5000])(
    "that ends after %d bytes does too",
    async (length) => {
      const good = temporaryFile();
      await (await openMirror({ store: sqlite(good) })).close();
      const file = temporaryFile();
      const damage = () => writeFileSync(file, readFileSync(good).subarray(0, length));
      await expectOurs(sqlite(file), `${length} bytes`, damage);
    },
  );

  it.each(["-wal", "-shm"])("whose %s is rubbish does too", async (end) => {
    const file = temporaryFile();
    await (await openMirror({ store: sqlite(file) })).close();
    await expectOurs(sqlite(file), end, () => writeFileSync(file + end, "rubbish".repeat(10_000)));
  });

  it("that is text is refused with advice", async () => {
    const file = temporaryFile();
    writeFileSync(file, "this is no database, and long enough to be read as a header of one".repeat(100));
    await expect(openMirror({ store: sqlite(file) })).rejects.toMatchObject({
      code: "store-unavailable",
      message: expect.stringContaining("is not an SQLite database"),
    });
  });

  it("of a format that SQLite does not know is refused with advice", async () => {
    const good = temporaryFile();
    await (await openMirror({ store: sqlite(good) })).close();
    const file = temporaryFile();
    copyFileSync(good, file);
    const bytes = readFileSync(file);
    bytes[47] = 5;
    writeFileSync(file, bytes);
    await expect(openMirror({ store: sqlite(file) })).rejects.toMatchObject({
      code: "store-unavailable",
      message: expect.stringMatching(/unsupported file format.*restore it/),
    });
  });
});

async function expectOurs(store: Store, what: string, damage: () => void): Promise<void> {
  damage();
  const outcome = await openMirror({ store }).then(
    (mirror) => mirror.close(),
    (error: unknown) => error,
  );
  if (outcome === undefined) return;
  expect(
    isEscrowMirrorError(outcome, "store-unavailable", "schema-version"),
    `${what}: ${outcome instanceof Error ? outcome.message : "rejected"}`,
  ).toBe(true);
}

function errorOf(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    return error;
  }
}
