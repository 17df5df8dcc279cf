import Database from "better-sqlite3";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { copyStore } from "../../../src/copy/copy-store.ts";
import { createMirror, type Mirror } from "../../../src/mirror/create-mirror.ts";
import { sqlite } from "../../../src/store/sqlite/store.ts";
import { secret } from "../../support/delivery.ts";
import { fillStatements, filledContractId, filledTime, sqliteBytes } from "../../support/fill.ts";
import { listCases, turnPages } from "../../support/list-filters.ts";
import { openMirror } from "../../support/mirror.ts";

/** What the statistics of a file say of an index of so many columns: nothing, what was true once, or what never was. */
const statistics: readonly (readonly [string, ((columns: number) => string) | undefined])[] = [
  ["are none", undefined],
  ["say one row", (columns) => `1${" 1".repeat(columns)}`],
  ["say ten rows, all alike", (columns) => `10${" 10".repeat(columns)}`],
  ["say a million rows, all alike", (columns) => `1000000${" 1000000".repeat(columns)}`],
  ["say a million rows, no two alike", (columns) => `1000000${" 1".repeat(columns)}`],
];

describe.each(statistics)("on SQLite, where statistics %s", (_, numbersOf) => {
  const database = new Database(":memory:");
  /** The statements that were run, in order. */
  const asked: string[] = [];
  const store = sqlite({ database });
  let mirror: Mirror;

  beforeAll(async () => {
    record(database, asked);
    mirror = await createMirror({
      store,
      webhook: { secrets: secret },
      jobs: { run: false },
    });
    for (const sql of fillStatements((table) => `escrow_${table}`, sqliteBytes, 200)) database.exec(sql);
    if (numbersOf !== undefined) plant(database, numbersOf);
  });
  afterAll(() => mirror.close());

  const slowSteps = (sqls: readonly string[]): string[] => sqls.flatMap((sql) => slowStepsOf(database, sql));

  it("a page of every list, for every combination of its filters, is read along an index, in its order", async () => {
    const slow: (readonly [string, string[]])[] = [];
    for (const each of listCases) {
      const before = asked.length;
      await turnPages(mirror, each);
      const steps = slowSteps(asked.slice(before));
      if (steps.length > 0) slow.push([each.title, steps]);
    }
    expect(slow).toEqual([]);
    expect(asked.length).toBeGreaterThan(100);
  });

  it("one filter is answered by an index alone: nothing is picked from among its rows", async () => {
    for (const each of listCases.filter(({ filters }) => filters === 1)) {
      const before = asked.length;
      await turnPages(mirror, each);
      const picking = asked.slice(before).filter((sql) => sql.includes("looked_at"));
      expect(picking, each.title).toHaveLength(each.isPicked ? 2 : 0);
    }
  });

  it.each(["reference", "status", "contract_id"])(
    "a query of one's own finds contracts by their %s by an index",
    (field) => {
      expect(slowSteps([`select count(*) from escrow_contracts where ${field} = ?`])).toEqual([]);
    },
  );

  it.each<[string, (mirror: Mirror) => Promise<unknown>]>([
    ["contracts.get", ({ contracts }) => contracts.get(filledContractId(7))],
    ["contracts.history", ({ contracts }) => contracts.history(filledContractId(7))],
    ["contracts.count", ({ contracts }) => contracts.count()],
    ["refunds.get", ({ refunds }) => refunds.get("500007")],
    [
      "refunds.get of a contract",
      ({ refunds }) => refunds.get("500007", { contractId: filledContractId(7) }),
    ],
    ["deliveries.get", ({ deliveries }) => deliveries.get("wh-7")],
    ["deliveries.get of an id that nothing claimed", ({ deliveries }) => deliveries.get("wh-none")],
    ["health", (of) => of.health()],
  ])("%s walks through no table", async (__, ask) => {
    const before = asked.length;
    await ask(mirror);
    expect(slowSteps(asked.slice(before))).toEqual([]);
  });

  it("a handler that starts at a time finds its place by the index of arrivals", async () => {
    const before = asked.length;
    mirror.on("contract.created", () => undefined, { name: "late", since: filledTime(190) });
    await mirror.idle();
    const byTime = asked.slice(before).filter((sql) => sql.includes("received_at"));
    expect(byTime).toContainEqual(expect.stringContaining("order by"));
    expect(slowSteps(byTime.filter((sql) => / where .*received_at/.test(sql)))).toEqual([]);
  });

  it("a handler of anomalies that starts at a time is told of those of its deliveries, found by them", async () => {
    const before = asked.length;
    mirror.on("anomaly", () => undefined, { name: "odd", since: filledTime(150) });
    await mirror.idle();
    const ofAnomalies = asked.slice(before).filter((sql) => sql.includes("escrow_anomalies"));
    expect(ofAnomalies.length).toBeGreaterThan(0);
    expect(slowSteps(ofAnomalies)).toEqual([]);
  });

  it("old counts of failures are found by when they were written", async () => {
    const before = asked.length;
    await mirror.prune({ jobs: 100 * 366 * 86_400_000 });
    const ofFailures = asked.slice(before).filter((sql) => sql.includes("escrow_failures"));
    expect(ofFailures).toHaveLength(1);
    expect(slowSteps(ofFailures)).toEqual([]);
  });

  it("copying looks for anomalies without a place in a history by their instant", async () => {
    database.exec(
      `insert into escrow_anomalies (contract_id, kind, detail, at)
       select case when seq % 20 = 0 then contract_id end, kind, 'between', at from escrow_anomalies`,
    );
    const target = new Database(":memory:");
    const askedThere: string[] = [];
    record(target, askedThere);
    const copy = sqlite({ database: target });
    await openMirror({ store: copy });
    expect((await copyStore(store, copy)).filter(({ equal }) => !equal)).toEqual([]);
    const byInstant = askedThere.filter((sql) => /from "escrow_anomalies" where .*"at" = /.test(sql));
    expect(byInstant.length).toBeGreaterThan(0);
    expect(byInstant.flatMap((sql) => slowStepsOf(target, sql))).toEqual([]);
    expect(askedThere.filter((sql) => sql.includes('"contract_id" is null'))).toEqual([]);
  });
});

/** Notes each statement that reads, when it is run. */
function record(database: Database.Database, asked: string[]): void {
  const prepare = database.prepare.bind(database);
  database.prepare = ((sql: string) => {
    const statement = prepare(sql);
    const all = statement.all.bind(statement);
    statement.all = (...values: unknown[]) => {
      asked.push(sql);
      return all(...values);
    };
    return statement;
  }) as typeof database.prepare;
}

function plant(database: Database.Database, numbersOf: (columns: number) => string): void {
  database.exec("analyze");
  database.exec("delete from sqlite_stat1");
  const indexes = database
    .prepare(
      `select m.tbl_name, m.name, (select count(*) from pragma_index_info(m.name))
       from sqlite_master as m where m.type = 'index'`,
    )
    .raw()
    .all() as [string, string, number][];
  const insert = database.prepare("insert into sqlite_stat1 values (?, ?, ?)");
  for (const [table, index, columns] of indexes) insert.run(table, index, numbersOf(columns));
  database.exec("analyze sqlite_schema");
}

/**
 * The steps of a plan that sort, or go through a whole table, and bounds that no step goes by: they would be tried on row after
 * row. A scan for all there is walks in order until the limit ends it.
 */
function slowStepsOf(database: Database.Database, sql: string): string[] {
  if (!sql.startsWith("select")) return [];
  const values = Array.from({ length: sql.split("?").length - 1 }, () => null);
  const steps = database.prepare(`explain query plan ${sql}`).all(...values) as { detail: string }[];
  const details = steps.map(({ detail }) => detail);
  const [inner = ""] = sql.split(") as looked_at");
  const scan = inner.includes(" where ") ? /^SCAN (?!looked_at|counted)/ : /^$/;
  const slow = details.filter((detail) => detail.includes("TEMP B-TREE") || scan.test(detail));
  const unused = boundsIn(inner).filter((bound) => !details.some((detail) => detail.includes(bound)));
  return [...slow, ...unused.map((bound) => `goes by no ${bound}`)];
}

/**
 * The bounds of a statement as a plan names them: `(state,initiated_key)>`. By the number of a row SQLite finds no place in an
 * index: it is tried on the rows of one instant, which are few.
 */
function boundsIn(sql: string): string[] {
  return [...sql.matchAll(/(\("[^)]*"\)|"\w+") ([<>])=? [(?]/g)].map(([, fields = "", op = ""]) => {
    const names = fields.replaceAll(/[()" ]/g, "").split(",");
    const found = names.filter((name) => name !== "seq");
    return `${found.length > 1 ? `(${found.join()})` : found.join()}${op}`;
  });
}
