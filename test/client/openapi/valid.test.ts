import { readFileSync } from "node:fs";
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, it, onTestFinished } from "vitest";
import { createSandbox, manualClock } from "../../../src/sandbox.ts";

/** Two validators, for each alone misses faults that the other finds. */

const root = new URL("../../../", import.meta.url).pathname;

async function run(program: string, ...args: readonly string[]): Promise<string> {
  const env = { ...process.env, REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true" };
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [`${root}node_modules/${program}`, ...args],
    { cwd: root, env },
  );
  return stdout;
}

it("openapi.json has no error and no warning for Redocly", async () => {
  const report = await run("@redocly/cli/bin/cli.js", "lint", "openapi.json", "--format=json");
  const { totals, problems } = JSON.parse(report.slice(report.indexOf("{"))) as {
    totals: object;
    problems: unknown[];
  };
  expect(problems).toEqual([]);
  expect(totals).toMatchObject({ errors: 0, warnings: 0 });
}, 60_000);

it("openapi.json is valid by the schema of OpenAPI 3.1", async () => {
  const report = await run("@seriousme/openapi-schema-validator/bin/validate-api-cli.js", "openapi.json");
  expect(JSON.parse(report)).toEqual({ valid: true });
}, 60_000);

it("the sandbox serves it", async () => {
  const sandbox = await createSandbox({ clock: manualClock() });
  onTestFinished(() => sandbox.close());
  const response = await fetch(`${sandbox.baseUrl}/openapi.json`);
  expect(await response.text()).toBe(readFileSync(`${root}openapi.json`, "utf8"));
  expect(response.headers.get("content-type")).toContain("application/json");
  expect((await fetch(`${sandbox.baseUrl}/openapi.json`, { method: "POST" })).status).toBe(405);
});
