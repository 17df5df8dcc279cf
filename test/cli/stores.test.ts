import { existsSync, writeFileSync } from "node:fs";
import Database from "better-sqlite3";
import { describe, expect, it } from "vitest";
import { copyCommand } from "../../src/cli/copy.ts";
import { migrateCommand } from "../../src/cli/migrate.ts";
import { pruneCommand } from "../../src/cli/prune.ts";
import { sqlite } from "../../src/store/sqlite/store.ts";
import { eventBody, signed } from "../support/delivery.ts";
import { openMirror, temporaryFile } from "../support/mirror.ts";
import { run, runCommand } from "./run-command.ts";

const migrate = (values: readonly string[], env?: Record<string, string>) =>
  runCommand(migrateCommand(), values, env);

describe("escrow-mirror migrate", () => {
  it("--sql prints the SQL of the kind of store that is named, and makes nothing", async () => {
    const file = temporaryFile();
    const { code, output } = await migrate(["--sql", "--store", `sqlite:${file}`]);
    expect([code, existsSync(file)]).toEqual([0, false]);
    expect(await migrate(["--sql"], { DATABASE_URL: `sqlite:${file}` })).toMatchObject({ code: 0 });
    const database = new Database(file);
    database.exec(output);
    database.close();
    const mirror = await openMirror({ store: sqlite(file), migrate: "check" });
    await mirror.close();
  });

  it("--sql prints Postgres's SQL where no store is named, and that of --dialect where it is given", async () => {
    expect((await migrate(["--sql"])).output).toContain('create schema if not exists "escrow_mirror"');
    const named = await migrate(["--sql", "--store", "postgres://nowhere/app"]);
    expect(named.output).toContain('create schema if not exists "escrow_mirror"');
    const chosen = await migrate(["--sql", "--dialect", "sqlite"], {
      DATABASE_URL: "postgres://nowhere/app",
    });
    expect(chosen.output).toContain("escrow_contracts");
    expect(chosen.output).not.toContain("create schema");
  });

  it("--sql refuses a dialect that is not that of --store", async () => {
    const { code, output } = await migrate(["--sql", "--store", "sqlite:x.db", "--dialect", "postgres"]);
    expect([code, output]).toEqual([
      2,
      "error: --dialect postgres does not fit --store, which names sqlite: leave one of the two out.\n",
    ]);
  });

  it.each([
    ["Escrow_", ["--sql"], 'postgres: prefix: "Escrow_" is not allowed'],
    ["Escrow_", ["--store", "postgres://nowhere/app"], 'postgres: prefix: "Escrow_" is not allowed'],
    ["a-b", ["--sql", "--dialect", "sqlite"], 'sqlite: prefix: "a-b" is not allowed'],
    ["a-b", ["--store", "sqlite:never.db"], 'sqlite: prefix: "a-b" is not allowed'],
    ["1_", ["--sql"], 'postgres: prefix: "1_" is not allowed'],
    ["1_", ["--sql", "--dialect", "sqlite"], 'sqlite: prefix: "1_" is not allowed'],
  ])("refuses the prefix %s in SQL that is printed as in a database: %j", async (prefix, values, message) => {
    const { code, output } = await migrate([...values, "--prefix", prefix]);
    expect([code, output.includes(`error: ${message}`)], output).toEqual([2, true]);
    expect(existsSync("never.db")).toBe(false);
  });

  it("--sql refuses a schema that postgres() refuses", async () => {
    const { code, output } = await migrate(["--sql", "--schema", "9x"]);
    expect([code, output]).toEqual([2, expect.stringContaining('schema: "9x" is not allowed')]);
  });

  it.each([
    ["--partition", "month", ["--store", "sqlite:never.db"]],
    ["--partition", "month", ["--sql", "--store", "sqlite:never.db"]],
    ["--partition", "day", ["--sql", "--dialect", "sqlite"]],
    ["--schema", "app", ["--store", "sqlite:never.db"]],
    ["--schema", "app", ["--sql", "--dialect", "sqlite"]],
  ])("refuses %s %s on SQLite: %j", async (option, value, values) => {
    const { code, output } = await migrate([...values, option, value]);
    expect([code, output]).toEqual([2, `error: ${option} is for Postgres: leave it out on SQLite.\n`]);
    expect(existsSync("never.db")).toBe(false);
  });
});

it.each([
  ["migrate", migrateCommand, [], "--store"],
  ["prune", pruneCommand, ["--payloads", "30d"], "--store"],
  ["copy", copyCommand, ["--from", "sqlite:<file>"], "--to"],
])("escrow-mirror %s names the option that no database was named with", async (_, create, values, option) => {
  const file = temporaryFile();
  await (await openMirror({ store: sqlite(file) })).close();
  const given = values.map((value) => value.replace("<file>", file));
  const { code, output } = await runCommand(create(), given);
  expect([code, output]).toEqual([
    2,
    `error: No store is named: give its address with ${option}, or set ESCROW_MIRROR_STORE in the environment or in --secrets-file, or "store" in escrow-mirror.json.\n`,
  ]);
});

it("escrow-mirror copy tells one row, and more rows", async () => {
  const [from, to] = [temporaryFile(), temporaryFile()];
  const mirror = await openMirror({ store: sqlite(from) });
  await mirror.receive(signed(eventBody("contract.created", { seconds: 0 })));
  await mirror.close();
  const { code, output } = await runCommand(copyCommand(), [
    "--from",
    `sqlite:${from}`,
    "--to",
    `sqlite:${to}`,
  ]);
  expect(code).toBe(0);
  expect(output).toMatch(/^copying contracts: 1 row$/m);
  expect(output).toMatch(/^equal +contracts +1 row$/m);
  expect(output).toMatch(/^equal +inputs +0 rows$/m);
});

it.each(["30", "0d", "30 d", "1w", "-1d", "soon"])(
  "escrow-mirror prune refuses --payloads %j",
  async (age) => {
    const { code, output } = await runCommand(pruneCommand(), [`--payloads=${age}`]);
    expect([code, output]).toEqual([
      2,
      `error: option '--payloads <age>' argument '${age}' is invalid. Give an age, such as 30d, 12h, 90m or 45s.\n(--help shows how to use it)\n`,
    ]);
  },
);

it("escrow-mirror prune asks for an age", async () => {
  expect(await runCommand(pruneCommand(), ["--store", "sqlite:never.db"])).toEqual({
    code: 2,
    output: "error: Delete what? Give --payloads, --jobs or --quarantine with an age, such as 90d.\n",
  });
});

it.each([
  [["--store", "<address>"], "--store"],
  [["--config", "<config>"], "the config file"],
])("an address with a password is refused in %j, and not shown", async (values, where) => {
  const address = "postgres://app:sentinel@127.0.0.1:1/shop";
  const config = temporaryFile("config.json");
  writeFileSync(config, JSON.stringify({ store: address }));
  const given = values.map((value) => value.replace("<address>", address).replace("<config>", config));
  const { code, both } = await run(["status", ...given]);
  expect([code, both]).toEqual([
    2,
    `error: The address in ${where} has a password, which others can see there. Set the address as ESCROW_MIRROR_STORE in the environment or in --secrets-file, or leave the password out and set PGPASSWORD.\n`,
  ]);
});

it("a database that can't be reached is named without its password", async () => {
  const { code, both } = await run(["status"], {
    ESCROW_MIRROR_STORE: "postgres://app:sentinel@127.0.0.1:1/shop",
  });
  expect([code, /^error: .+\n$/.test(both)], both).toEqual([1, true]);
  expect(both).not.toContain("sentinel");
});

it.each([
  ["{", /is not JSON/],
  ['{"stor":"sqlite:x.db"}', /"stor" is not an option here: the options are store, schema, prefix, client/],
  ['{"client":{"clientSecret":"sentinel"}}', /client: "clientSecret" is not an option here/],
])("a config file that can't be used is refused: %j", async (text, message) => {
  const config = temporaryFile("config.json");
  writeFileSync(config, text);
  const { code, both } = await run(["status", "--config", config]);
  expect(code).toBe(2);
  expect(both).toMatch(message);
  expect(both).not.toContain("sentinel");
});

async function told(values: readonly string[], env: Record<string, string>): Promise<string> {
  return (await run(["status", ...values], env)).stderr;
}

it("the store is named by --store, then the environment, then the config file, then DATABASE_URL", async () => {
  const [one, two, three] = [temporaryFile("one.db"), temporaryFile("two.db"), temporaryFile("three.db")];
  const config = temporaryFile("config.json");
  writeFileSync(config, JSON.stringify({ store: `sqlite:${three}` }));
  const named = { ESCROW_MIRROR_STORE: `sqlite:${two}`, DATABASE_URL: "sqlite:four.db" };
  expect(await told(["--store", `sqlite:${one}`, "--config", config], named)).toContain(one);
  expect(await told(["--config", config], named)).toContain(two);
  expect(await told(["--config", config], { DATABASE_URL: "sqlite:four.db" })).toContain(three);
  expect(await told([], { DATABASE_URL: "sqlite:four.db" })).toContain("four.db");
});
