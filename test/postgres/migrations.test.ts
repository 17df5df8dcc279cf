import { Kysely, PostgresDialect, Migrator, type Migration } from "kysely";
import { describe, expect, it } from "vitest";
import { postgresDialect } from "../../src/store/sql/dialect.ts";
import { migrationSql, schemaVersion } from "../../src/store/sql/migrate.ts";
import { postgres } from "../../src/store/postgres/store.ts";
import { delivery } from "../support/delivery.ts";
import { openMirror, recordingLogger } from "../support/mirror.ts";
import { freshDatabase, freshSchema, openPool, postgresUrl, run } from "../support/postgres.ts";
import { startChild } from "../support/process.ts";

const everyVersion = Array.from({ length: schemaVersion }, (_, index) => ({ version: index + 1 }));
const versionsIn = async (schema: string, url = postgresUrl) =>
  (await run(`select version::int from "${schema}".migrations order by version`, url)) as {
    version: number;
  }[];

describe("migrations on Postgres", () => {
  it("by five processes at once on an empty database, one killed half-way, are each recorded once", async () => {
    const url = await freshDatabase();
    const doomed = await startChild("half-migrated-postgres", url, "escrow_mirror");
    expect(await doomed.line()).toBe("half");
    const others = await Promise.all(
      Array.from({ length: 4 }, () => startChild("open-postgres", url, "escrow_mirror")),
    );
    for (const other of others) expect(await other.line()).toBe("opening");
    doomed.process.kill("SIGKILL");
    expect(await doomed.ended).toBe("SIGKILL");
    for (const other of others) {
      expect(await other.line()).toBe("open");
      expect(await other.ended, other.errors()).toBe(0);
    }
    expect(await versionsIn("escrow_mirror", url)).toEqual(everyVersion);
    const mirror = await openMirror({ store: postgres({ connectionString: url }), migrate: "check" });
    expect((await mirror.receive(delivery("contract.created"))).status).toBe(200);
  });

  it("are refused by migrate: check, which makes nothing", async () => {
    const schema = freshSchema();
    const opening = openMirror({
      store: postgres({ connectionString: postgresUrl, schema }),
      migrate: "check",
    });
    await expect(opening).rejects.toMatchObject({ code: "schema-version" });
    expect(await run(`select 1 from pg_namespace where nspname = '${schema}'`)).toEqual([]);
  });

  it("run by hand from their SQL satisfy migrate: check, in the hands of a user who may only write rows", async () => {
    const url = await freshDatabase();
    const place = { schema: "escrow_mirror", prefix: "" };
    await run(migrationSql(postgresDialect, place, "2026-01-01T00:00:00Z").join(";\n"), url);
    const role = freshSchema();
    await run(
      `create role "${role}" login password 'tests'; grant usage on schema escrow_mirror to "${role}"; grant select, insert, update, delete on all tables in schema escrow_mirror to "${role}"`,
      url,
    );
    const address = new URL(url);
    address.username = role;
    for (const migrate of ["check", "auto"] as const) {
      const mirror = await openMirror({ store: postgres({ connectionString: address.href }), migrate });
      expect((await mirror.receive(delivery("contract.created"))).status).toBe(200);
      await mirror.close();
    }
    await run(`drop owned by "${role}"; drop role "${role}"`, url);
  });

  it("are run once, and told of in the log without the password", async () => {
    const schema = freshSchema();
    const logger = recordingLogger();
    for (let time = 0; time < 2; time++)
      await openMirror({ store: postgres({ connectionString: postgresUrl, schema }), logger });
    expect(logger.lines.filter(({ message }) => message.includes("migrated"))).toMatchObject([
      { level: "info", fields: { from: 0, to: schemaVersion } },
    ]);
    expect(JSON.stringify(logger.lines)).not.toContain(new URL(postgresUrl).password);
  });

  it("leave a host's own Kysely migrations, and its tables contracts and events, as they are", async () => {
    const url = await freshDatabase();
    const host = new Kysely<Record<string, Record<string, unknown>>>({
      dialect: new PostgresDialect({ pool: openPool(url) }),
    });
    const made = new Set<string>();
    const migrations = Object.fromEntries(
      ["contracts", "events"].map((table): [string, Migration] => [
        `0001_${table}`,
        {
          up: async (db) => {
            made.add(table);
            await db.schema.createTable(table).addColumn("id", "text").execute();
          },
        },
      ]),
    );
    const migrator = new Migrator({ db: host, provider: { getMigrations: async () => migrations } });
    expect((await migrator.migrateToLatest()).error).toBeUndefined();
    await host.insertInto("contracts").values({ id: "theirs" }).execute();

    const mirror = await openMirror({ store: postgres({ kysely: host }) });
    expect((await mirror.receive(delivery("contract.created", { seconds: 0 }))).status).toBe(200);
    expect((await migrator.migrateToLatest()).results).toEqual([]);
    expect(made).toEqual(new Set(["contracts", "events"]));
    expect(await host.selectFrom("contracts").selectAll().execute()).toEqual([{ id: "theirs" }]);
    const rows = await mirror.db.selectFrom("contracts").select(["contract_id", "status"]).execute();
    expect(rows).toEqual([{ contract_id: "CNT-1", status: "pending" }]);
  });

  it("of two mirrors that start at once on one store go over one pool", async () => {
    const url = await freshDatabase();
    const store = postgres({ connectionString: url, connectionsMax: 1 });
    const mirrors = await Promise.all([openMirror({ store }), openMirror({ store })]);
    expect(await versionsIn("escrow_mirror", url)).toEqual(everyVersion);
    const database = new URL(url).pathname.slice(1);
    const open = `select 1 as one from pg_stat_activity where application_name = 'escrow-mirror' and datname = '${database}'`;
    expect(await run(open)).toEqual([{ one: 1 }]);
    const created = delivery("contract.created", { id: 1 });
    const outcomes = await Promise.all(mirrors.map(async (each) => (await each.receive(created)).outcome));
    expect(outcomes.sort()).toEqual(["applied", "duplicate"]);
  });
});
