import { Client, type QueryConfig } from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { alikeIn } from "../../src/copy/write-page.ts";
import { createMirror, type Mirror } from "../../src/mirror/create-mirror.ts";
import { postgres } from "../../src/store/postgres/store.ts";
import { tables } from "../../src/store/tables.ts";
import { secret } from "../support/delivery.ts";
import { fillStatements, filledContractId, filledTime, postgresBytes } from "../support/fill.ts";
import { listCases, turnPages } from "../support/list-filters.ts";
import { freshSchema, openPool, postgresUrl, run } from "../support/postgres.ts";

const manyContracts = 3000;

/** What the server's statistics know when there are many rows. */
const statistics: readonly (readonly [string, (schema: string) => Promise<void>])[] = [
  ["know nothing", async (schema) => fill(schema, 0, manyContracts)],
  [
    "are of a few rows",
    async (schema) => {
      await fill(schema, 0, 20);
      await analyze(schema);
      await fill(schema, 20, manyContracts - 20);
    },
  ],
  [
    "are of what there is",
    async (schema) => {
      await fill(schema, 0, manyContracts);
      await analyze(schema);
    },
  ],
];

describe.each(statistics)("on Postgres, where statistics %s", (_, prepare) => {
  const schema = freshSchema();
  const asked: Asked[] = [];
  const explaining = new Client({ connectionString: postgresUrl });
  const store = postgres({ pool: openPool(postgresUrl, { Client: recording(asked) }), schema });
  let mirror: Mirror;

  beforeAll(async () => {
    // A process that runs jobs also removes old ones, some seconds after its start: its statements are not meant here.
    mirror = await createMirror({ store, webhook: { secrets: secret }, jobs: { run: false } });
    for (const table of Object.keys(tables))
      await run(`alter table ${schema}.${table} set (autovacuum_enabled = false)`);
    await prepare(schema);
    await explaining.connect();
  });
  afterAll(async () => {
    await mirror.close();
    await explaining.end();
  });

  /** What no page waits for need only have an index that it can go by. */
  const byAnIndex = (statements: readonly Asked[]): Asked[] =>
    statements.map((each) => ({
      ...each,
      begin: "begin; set local enable_seqscan = off; set local enable_sort = off",
    }));
  const askedOf = (table: string): Asked[] =>
    asked.filter(({ text }) => new RegExp(`\\b${table}\\b`).test(text));

  const slowStepsOf = async (statements: readonly Asked[]): Promise<string[]> => {
    const steps: string[] = [];
    for (const each of statements) steps.push(...(await explain(explaining, each)).flatMap(slowSteps));
    return steps;
  };

  it("a page of every list, for every combination of its filters, is read along an index, in its order", async () => {
    const slow: (readonly [string, string[]])[] = [];
    for (const each of listCases) {
      asked.length = 0;
      await turnPages(mirror, each);
      const steps = await slowStepsOf(asked);
      if (steps.length > 0) slow.push([each.title, steps]);
    }
    expect(slow).toEqual([]);
  });

  it("a query of one's own finds a contract by its reference, and those of a status, by an index", async () => {
    for (const [field, value] of [
      ["reference", "order-7"],
      ["status", "Dispute"],
      ["contract_id", filledContractId(7)],
    ] as const) {
      const text = `select count(*) from ${schema}.contracts where ${field} = $1`;
      const steps = await explain(explaining, {
        begin: "begin; set local enable_seqscan = off",
        text,
        values: [value],
      });
      expect(steps.flatMap(slowSteps), field).toEqual([]);
    }
  });

  it.each<[string, (mirror: Mirror) => Promise<unknown>]>([
    ["contracts.get", (of) => of.contracts.get(filledContractId(7))],
    ["contracts.history", (of) => of.contracts.history(filledContractId(7))],
    ["contracts.count", (of) => of.contracts.count()],
    ["refunds.get", (of) => of.refunds.get("500007")],
    ["refunds.get of a contract", (of) => of.refunds.get("500007", { contractId: filledContractId(7) })],
    ["deliveries.get", (of) => of.deliveries.get("wh-7")],
    ["deliveries.get of an id that nothing claimed", (of) => of.deliveries.get("wh-none")],
  ])("%s walks through no table", async (__, ask) => {
    asked.length = 0;
    await ask(mirror);
    expect(asked.length).toBeGreaterThan(0);
    expect(await slowStepsOf(asked)).toEqual([]);
  });

  it("a handler of anomalies that starts at a time is told of those of its deliveries, found by them", async () => {
    asked.length = 0;
    mirror.on("anomaly", () => undefined, { name: "odd", since: filledTime(manyContracts - 5) });
    await mirror.idle();
    expect(askedOf("anomalies").length).toBeGreaterThan(0);
    expect(await slowStepsOf(byAnIndex(askedOf("anomalies")))).toEqual([]);
  });

  it("old counts of failures are found by when they were written", async () => {
    await run(
      `insert into ${schema}.failures (digest, handler, failures, faults, last_error, changed_at)
       select content_key, 'inside', 1, 0, '', received_at from ${schema}.deliveries`,
    );
    asked.length = 0;
    await mirror.prune({ jobs: 100 * 366 * 86_400_000 });
    expect(askedOf("failures")).toHaveLength(1);
    expect(await slowStepsOf(byAnIndex(askedOf("failures")))).toEqual([]);
  });

  it("copying looks for anomalies without a place in a history by their instant", async () => {
    await run(
      `insert into ${schema}.anomalies (kind, detail, at)
       select kind, 'between', at from ${schema}.anomalies where position = 1`,
    );
    const rows = await store.read((reader) => reader.find("anomalies", { where: isBetween, limit: 5 }));
    asked.length = 0;
    expect(await store.read((reader) => alikeIn(reader, "anomalies", rows))).toEqual(
      expect.arrayContaining(rows),
    );
    expect(await slowStepsOf(byAnIndex(askedOf("anomalies")))).toEqual([]);
  });
});

const isBetween = [{ field: "position", op: "null" }] as const;

async function fill(schema: string, first: number, count: number): Promise<void> {
  for (const sql of fillStatements((table) => `${schema}.${table}`, postgresBytes, count, first))
    await run(sql);
}

async function analyze(schema: string): Promise<void> {
  for (const table of Object.keys(tables)) await run(`analyze ${schema}.${table}`);
}

/** A statement that read, and how its transaction began. */
interface Asked {
  readonly begin: string;
  readonly text: string;
  readonly values: readonly unknown[];
}

/** Clients that note what reads. */
function recording(asked: Asked[]): typeof Client {
  return class extends Client {
    #begin = "";

    override query(...args: unknown[]): never {
      const [{ text, values = [] }] = args as [QueryConfig];
      if (text.startsWith("begin ")) this.#begin = text;
      else if (text.startsWith("select ")) asked.push({ begin: this.#begin, text, values });
      return (super.query as (...all: unknown[]) => never).apply(this, args);
    }
  };
}

/** A step of a plan. */
interface Step {
  readonly "Node Type": string;
  readonly "Relation Name"?: string;
  readonly "Index Name"?: string;
  readonly "Rows Removed by Filter"?: number;
  readonly Plans?: readonly Step[];
}

/** The steps of the plan by which the statement runs where it ran. */
async function explain(client: Client, { begin, text, values }: Asked): Promise<Step[]> {
  await client.query(begin);
  const { rows } = await client.query<{ "QUERY PLAN": [{ Plan: Step }] }>(
    `explain (analyze, format json) ${text}`,
    [...values],
  );
  await client.query("rollback");
  return rows.flatMap((row) => stepsOf(row["QUERY PLAN"][0].Plan));
}

function stepsOf(step: Step): Step[] {
  return [step, ...(step.Plans ?? []).flatMap(stepsOf)];
}

/** Those that sort, go through a table, or read rows of it to throw them away. */
function slowSteps(step: Step): string[] {
  const type = step["Node Type"];
  const wasted = step["Relation Name"] === undefined ? 0 : (step["Rows Removed by Filter"] ?? 0);
  const isSlow = type.includes("Sort") || type === "Seq Scan" || wasted > 0;
  return isSlow
    ? [`${type} ${step["Relation Name"] ?? ""} ${step["Index Name"] ?? ""}: ${wasted} wasted`]
    : [];
}
