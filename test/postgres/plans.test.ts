import { Client, type QueryConfig } from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createMirror, type Mirror } from "../../src/mirror/create-mirror.ts";
import { postgres } from "../../src/store/postgres/store.ts";
import { tables } from "../../src/store/tables.ts";
import { secret } from "../support/delivery.ts";
import { fillStatements, filledContractId, postgresBytes } from "../support/fill.ts";
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
  let mirror: Mirror;

  beforeAll(async () => {
    const pool = openPool(postgresUrl, { Client: recording(asked) });
    mirror = await createMirror({ store: postgres({ pool, schema }), webhook: { secrets: secret } });
    for (const table of Object.keys(tables))
      await run(`alter table ${schema}.${table} set (autovacuum_enabled = false)`);
    await prepare(schema);
    await explaining.connect();
  });
  afterAll(async () => {
    await mirror.close();
    await explaining.end();
  });

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
});

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
