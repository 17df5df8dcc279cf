import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { postgres } from "../../src/store/postgres-store.ts";
import { sqlite } from "../../src/store/sqlite-store.ts";
import { mirroredRows } from "../property/rows.ts";
import { openReceiving } from "../property/receiving.ts";
import * as fc from "fast-check";
import { schedule } from "../../src/testing/schedule.ts";
import { temporaryFile } from "../support/mirror.ts";
import { freshSchema, postgresUrl, run } from "../support/postgres.ts";

const cli = fileURLToPath(new URL("../../src/cli.ts", import.meta.url));

async function escrowMirror(...values: string[]): Promise<{ code: number; output: string }> {
  const env = { ...process.env, DATABASE_URL: postgresUrl };
  try {
    const { stdout, stderr } = await promisify(execFile)(
      process.execPath,
      ["--import", "tsx", cli, ...values],
      { env },
    );
    return { code: 0, output: stdout + stderr };
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
    return { code, output: stdout + stderr };
  }
}

describe("escrow-mirror copy", () => {
  it("moves a mirror from SQLite to Postgres, compares both, and can be run again for what came meanwhile", async () => {
    const file = temporaryFile();
    const schema = freshSchema();
    const schedules = fc.sample(schedule({ manner: "wild", contractsMax: 4, sharedRefundIds: true }), {
      numRuns: 2,
      seed: 7,
    });
    const source = await openReceiving(sqlite(file));
    for (const each of schedules) {
      await source.deliver(each);
      const { code, output } = await escrowMirror("copy", "--from", `sqlite:${file}`, "--schema", schema);
      expect(output).not.toMatch(/DIFFERS|error/);
      expect(code).toBe(0);
      expect(output).not.toContain(new URL(postgresUrl).password);
    }
    const target = await openReceiving(postgres({ connectionString: postgresUrl, schema }));
    expect(await mirroredRows(target.store)).toEqual(await mirroredRows(source.store));
    await target.store.close();
    await source.store.close();
  });

  it("says that the two differ when the target has more", async () => {
    const file = temporaryFile();
    const schema = freshSchema();
    expect((await escrowMirror("copy", "--from", `sqlite:${file}`, "--schema", schema)).code).toBe(0);
    await run(`insert into "${schema}".secrets values ('f', 's', 'verified', '')`);
    const { code, output } = await escrowMirror("copy", "--from", `sqlite:${file}`, "--schema", schema);
    expect(code).toBe(1);
    expect(output).toMatch(/DIFFERS\s+secrets/);
  });
});

describe("escrow-mirror migrate", () => {
  it("--sql prints what makes the tables, and runs nothing", async () => {
    const schema = freshSchema();
    const { code, output } = await escrowMirror("migrate", "--sql", "--schema", schema);
    expect(code).toBe(0);
    expect(await run(`select 1 from pg_namespace where nspname = '${schema}'`)).toEqual([]);
    await run(output);
    expect(await run(`select count(*)::int as tables from pg_tables where schemaname = '${schema}'`)).toEqual(
      [{ tables: 13 }],
    );
  });

  it("makes the tables of a store", async () => {
    const { code, output } = await escrowMirror("migrate", "--schema", freshSchema());
    expect(output).toMatch(/is ready/);
    expect(code).toBe(0);
  });
});
