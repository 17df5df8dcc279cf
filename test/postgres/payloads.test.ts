/** Payloads in partitions: pruning drops one, and everything that must hold for ever still holds. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import type { Mirror } from "../../src/mirror/create-mirror.ts";
import { postgres } from "../../src/store/postgres/store.ts";
import type { Store } from "../../src/store/store.ts";
import { bundleCommand } from "../support/children/bundle.ts";
import { delivery, signed } from "../support/delivery.ts";
import { openMirror, testClock, type TestClock } from "../support/mirror.ts";
import { freshSchema, openPool, postgresUrl, run, targets } from "../support/postgres.ts";
import { prunePayloads } from "../support/prune.ts";

const day = 86_400_000;
const april = Date.UTC(2026, 3, 14);

interface Opened {
  readonly mirror: Mirror;
  readonly store: Store;
  readonly clock: TestClock;
}

async function open(schema: string, clock = testClock(april), partition?: "day" | "month"): Promise<Opened> {
  const layout = partition === undefined ? {} : { partition };
  const store = postgres({ connectionString: postgresUrl, schema, ...layout });
  return { mirror: await openMirror({ store, clock }), store, clock };
}

async function partitions(schema: string): Promise<string[]> {
  const rows = await run(
    `select inhrelid::regclass::text as name from pg_inherits where inhparent = '"${schema}".payloads'::regclass order by 1`,
  );
  return rows.map(({ name }) => String(name).split(".").at(-1) as string);
}

async function bodyOf(mirror: Mirror, id: string): Promise<string | null | undefined> {
  const row = await mirror.db
    .selectFrom("deliveries")
    .leftJoin("payloads", (join) =>
      join
        .onRef("payloads.content_key", "=", "deliveries.content_key")
        .onRef("payloads.received_at", "=", "deliveries.received_at"),
    )
    .select(["payloads.body"])
    .where("deliveries.id", "=", id)
    .executeTakeFirst();
  return row?.body == null ? row?.body : Buffer.from(row.body).toString();
}

const created = delivery("contract.created", { id: "p-1", seconds: 0 }, { webhookId: "wh-1" });
const approved = delivery("contract.approved", { id: "p-2", seconds: 60 }, { webhookId: "wh-2" });
const unreadable = signed("not JSON", { webhookId: "wh-3" });

/** The same body under a fresh id. */
const createdAgain = delivery("contract.created", { id: "p-1", seconds: 0 }, { webhookId: "wh-new" });

async function prune(...values: string[]): Promise<{ stdout: string }> {
  const env = { ...process.env, DATABASE_URL: postgresUrl };
  return promisify(execFile)(process.execPath, [await bundleCommand(), "prune", ...values], { env });
}

describe("payloads in partitions", () => {
  it("follow a delivery whose copy of another period arrived before it", async () => {
    const { mirror, clock } = await open(freshSchema(), testClock(april), "day");
    clock.advance(day);
    await mirror.receive(created);
    clock.advance(-day);
    expect((await mirror.receive(created)).outcome).toBe("duplicate");
    expect(await bodyOf(mirror, "wh-1")).toBe(String(created.body));
  });

  it("are dropped by the partition: replays are known all the same, a rebuild comes out the same", async () => {
    const schema = freshSchema();
    const { mirror, store, clock } = await open(schema, testClock(april), "month");
    expect(await partitions(schema)).toEqual([
      "payloads_2026_04",
      "payloads_2026_05",
      "payloads_2026_06",
      "payloads_other",
    ]);
    await mirror.receive(created);
    expect((await mirror.receive(unreadable)).outcome).toBe("quarantined");
    clock.advance(40 * day);
    await mirror.receive(approved);
    expect(await run(`select count(*)::int as rows from "${schema}".payloads_2026_04`)).toEqual([
      { rows: 2 },
    ]);
    expect(await bodyOf(mirror, "wh-1")).toBe(String(created.body));

    const pruned = await prunePayloads(store, new Date("2026-05-20T00:00:00Z"));
    expect(pruned).toEqual({ partitions: ["payloads_2026_04"], rows: 0 });
    expect(await partitions(schema)).not.toContain("payloads_2026_04");
    expect(await bodyOf(mirror, "wh-1")).toBe(null);
    expect(await bodyOf(mirror, "wh-2")).toBe(String(approved.body));
    const [aside] = (await mirror.quarantine.list()).items;
    expect(await bodyOf(mirror, aside?.id ?? "")).toBe("not JSON");

    expect((await mirror.receive(created)).outcome).toBe("duplicate");
    expect((await mirror.receive(createdAgain)).outcome).toBe("duplicate");
    const changed = delivery(
      "contract.created",
      { id: "p-1", seconds: 0, title: "other" },
      { webhookId: "wh-1" },
    );
    expect(await mirror.receive(changed)).toMatchObject({ outcome: "duplicate", reason: "payload-changed" });
    const other = delivery("contract.released", { id: "p-9", seconds: 90 }, { webhookId: "wh-1" });
    expect(await mirror.receive(other)).toMatchObject({
      outcome: "quarantined",
      reason: "webhook-id-conflict",
    });
    const before = await mirror.contracts.history("CNT-1");
    await mirror.rebuild();
    expect(await mirror.contracts.history("CNT-1")).toEqual(before);
  });

  it("have partitions made ahead by opening and pruning; what came into none moves in", async () => {
    const schema = freshSchema();
    const { mirror, store, clock } = await open(schema, testClock(april), "day");
    clock.advance(10 * day);
    await mirror.receive(created);
    expect(await run(`select count(*)::int as rows from "${schema}".payloads_other`)).toEqual([{ rows: 1 }]);
    await prunePayloads(store, new Date(april));
    expect(await run(`select count(*)::int as rows from "${schema}".payloads_2026_04_24`)).toEqual([
      { rows: 1 },
    ]);
    expect(await bodyOf(mirror, "wh-1")).toBe(String(created.body));
  });

  it("are divided below a process that runs already and knows nothing of it; what was stored before moves in", async () => {
    const schema = freshSchema();
    const { mirror, store, clock } = await open(schema);
    await mirror.receive(created);
    const asking = await open(schema, clock, "month");
    await mirror.receive(approved);
    expect(await run(`select count(*)::int as rows from "${schema}".payloads_2026_04`)).toEqual([
      { rows: 2 },
    ]);
    for (const each of [mirror, asking.mirror]) {
      expect(await bodyOf(each, "wh-1")).toBe(String(created.body));
      expect(await bodyOf(each, "wh-2")).toBe(String(approved.body));
    }
    clock.advance(90 * day);
    expect(await prunePayloads(store, new Date(clock.now()))).toEqual({
      partitions: ["payloads_2026_04", "payloads_2026_05", "payloads_2026_06"],
      rows: 0,
    });
    expect(await bodyOf(mirror, "wh-1")).toBe(null);
  });

  it("stay where they are when they are too many to move at once, and go row by row", async () => {
    const schema = freshSchema();
    const { mirror, store, clock } = await open(schema);
    await mirror.receive(unreadable);
    await run(
      `insert into "${schema}".payloads select decode(md5(n::text), 'hex'), '2026-04-02T00:00:00.000Z', '{}', '' from generate_series(1, 10001) as n`,
    );
    const asking = await open(schema, clock, "month");
    expect(await partitions(schema)).toEqual(["payloads_2026_05", "payloads_2026_06", "payloads_other"]);
    expect(await asideBody(asking.mirror)).toBe("not JSON");
    expect((await prunePayloads(store, new Date(april + day))).rows).toBe(10_001);
    expect(await asideBody(mirror)).toBe("not JSON");
  });

  it('are refused with migrate: "check" until they are laid out, and with another period', async () => {
    const schema = freshSchema();
    await open(schema);
    const by = (partition: "day" | "month") => postgres({ connectionString: postgresUrl, schema, partition });
    await expect(openMirror({ store: by("month"), migrate: "check" })).rejects.toMatchObject({
      code: "schema-version",
    });
    await openMirror({ store: by("month") });
    await openMirror({ store: by("month"), migrate: "check" });
    await expect(openMirror({ store: by("day") })).rejects.toMatchObject({ code: "invalid-configuration" });
  });
});

/** A transaction of somebody else's that holds a lock until it is let go. */
async function holding(sql: string): Promise<() => Promise<void>> {
  const client = await openPool().connect();
  await client.query("begin");
  await client.query(sql);
  return async () => {
    await client.query("commit");
    client.release();
  };
}

/** Until somebody waits for a lock on `table`. */
async function waitsFor(table: string): Promise<void> {
  const waiting = `select 1 from pg_locks where not granted and relation = to_regclass('${table}')`;
  while ((await run(waiting)).length === 0) await new Promise((resolve) => setTimeout(resolve, 10));
}

async function openPrunable(schema: string): Promise<Opened> {
  const opened = await open(schema, testClock(april), "month");
  await opened.mirror.receive(created);
  await opened.mirror.receive(unreadable);
  opened.clock.advance(40 * day);
  return opened;
}

const may = new Date("2026-05-20T00:00:00Z");

async function asideBody(mirror: Mirror): Promise<string | null | undefined> {
  const [aside] = (await mirror.quarantine.list()).items;
  return bodyOf(mirror, aside?.id ?? "");
}

describe("pruning partitions", () => {
  it("keeps nobody from receiving while a partition can't be detached for a long reader", async () => {
    const schema = freshSchema();
    const { mirror, store } = await openPrunable(schema);
    const letGo = await holding(`select from "${schema}".payloads_2026_04 limit 1`);
    const pruning = prunePayloads(store, may);
    await waitsFor(`"${schema}".payloads_2026_04`);
    expect((await mirror.receive(approved)).status).toBe(200);
    expect(await partitions(schema)).toContain("payloads_2026_04");
    await letGo();
    expect((await pruning).partitions).toEqual(["payloads_2026_04"]);
    expect(await asideBody(mirror)).toBe("not JSON");
    expect(await bodyOf(mirror, "wh-1")).toBe(null);
  });

  it("makes a partition of a period in which another process stores a payload at that moment", async () => {
    const schema = freshSchema();
    const { store, clock } = await open(schema, testClock(april), "month");
    clock.advance(100 * day);
    const letGo = await holding(
      `insert into "${schema}".payloads values ('key', '2026-07-20T00:00:00.000Z', '{}', '')`,
    );
    const pruning = prunePayloads(store, new Date(april));
    await waitsFor(`"${schema}".payloads_other`);
    await letGo();
    await pruning;
    expect(await run(`select count(*)::int as rows from "${schema}".payloads_2026_07`)).toEqual([
      { rows: 1 },
    ]);
  });

  it("deletes what is in no period page by page", async () => {
    const schema = freshSchema();
    const { store } = await openPrunable(schema);
    await run(
      `insert into "${schema}".payloads select n::text::bytea, '2025-01-01T00:00:00.000Z', '{}', '' from generate_series(1, 12000) as n`,
    );
    await run(
      `create table "${schema}".statements (rows int); create function "${schema}".note() returns trigger language plpgsql as $$ begin insert into "${schema}".statements select count(*) from gone; return null; end $$; create trigger note after delete on "${schema}".payloads referencing old table as gone for each statement execute function "${schema}".note()`,
    );
    expect((await prunePayloads(store, may)).rows).toBe(12_000);
    const pages = await run(`select rows from "${schema}".statements where rows > 0 order by rows desc`);
    expect(pages.reduce((sum, { rows }) => sum + Number(rows), 0)).toBe(12_000);
    expect(Number(pages[0]?.["rows"])).toBeLessThanOrEqual(500);
  });

  it("drops partitions of any name in its schema, and none of another's", async () => {
    const [schema, elsewhere] = [freshSchema(), freshSchema()];
    const { store } = await openPrunable(schema);
    await run(
      `create schema "${elsewhere}"; create table "${schema}"."Payloads of March's" partition of "${schema}".payloads for values from ('2026-03') to ('2026-04'); create table "${elsewhere}".payloads_2026_02 partition of "${schema}".payloads for values from ('2026-02') to ('2026-03'); create table "${schema}".payloads_2026_02 ()`,
    );
    expect([...(await prunePayloads(store, may)).partitions].sort()).toEqual([
      "Payloads of March's",
      "payloads_2026_04",
    ]);
    expect(await partitions(schema)).toContain("payloads_2026_02");
    expect(await run(`select to_regclass('"${schema}".payloads_2026_02') is null as gone`)).toEqual([
      { gone: false },
    ]);
  });
});

describe.each(targets)("pruning over %s", (_, target) => {
  it.each(["month", undefined] as const)("keeps what is quarantined, partitions: %s", async (partition) => {
    const clock = testClock(april);
    const store = postgres({ ...target(), schema: freshSchema(), ...(partition && { partition }) });
    const mirror = await openMirror({ store, clock });
    for (const each of [created, unreadable]) expect((await mirror.receive(each)).status).toBe(200);
    clock.advance(90 * day);
    const { partitions: dropped, rows } = await prunePayloads(store, new Date(clock.now() - 30 * day));
    expect([dropped.length > 0, rows]).toEqual(partition === undefined ? [false, 1] : [true, 0]);
    const [kept] = (await mirror.quarantine.list()).items;
    expect(Buffer.from((await kept?.body()) ?? []).toString()).toBe("not JSON");
    expect(await (await mirror.deliveries.get("wh-1"))?.body()).toBeNull();
  });
});

describe("without partitions", () => {
  it("payloads are deleted row by row, but for what is quarantined", async () => {
    const { mirror, store } = await open(freshSchema());
    for (const each of [created, approved, unreadable]) await mirror.receive(each);
    expect(await prunePayloads(store, new Date(april + day))).toEqual({ partitions: [], rows: 2 });
    expect(await prunePayloads(store, new Date(april + day))).toEqual({ partitions: [], rows: 0 });
    const [aside] = (await mirror.quarantine.list()).items;
    expect(await bodyOf(mirror, aside?.id ?? "")).toBe("not JSON");
    expect(await bodyOf(mirror, "wh-1")).toBe(null);
  });
});

describe("escrow-mirror prune", () => {
  it("says what it dropped, and refuses an age that is none", async () => {
    const schema = freshSchema();
    const { mirror } = await open(schema, testClock(april), "month");
    await mirror.receive(created);
    const { stdout } = await prune("--schema", schema, "--payloads", "1d");
    expect(stdout).toContain("payloads_2026_04");
    await expect(prune("--schema", schema, "--payloads", "soon")).rejects.toMatchObject({
      code: 2,
      stderr: expect.stringContaining("30d"),
    });
  });

  it("makes no tables where there are none", async () => {
    const schema = freshSchema();
    await expect(prune("--schema", schema, "--payloads", "1d")).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringContaining(`schema ${schema} holds no mirror`),
    });
    expect(await run(`select 1 from pg_namespace where nspname = '${schema}'`)).toEqual([]);
  });
});

describe("pruning", () => {
  it("rejects with store-unavailable before the store is opened, and with closed once it is closed", async () => {
    const store = postgres({ connectionString: postgresUrl, schema: freshSchema() });
    await expect(prunePayloads(store, may)).rejects.toMatchObject({ code: "store-unavailable" });
    await (await openMirror({ store })).close();
    await expect(prunePayloads(store, may)).rejects.toMatchObject({ code: "closed" });
  });
});
