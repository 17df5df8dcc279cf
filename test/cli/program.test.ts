import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import type { Command } from "commander";
import { beforeAll, describe, expect, it } from "vitest";
import { createProgram } from "../../src/cli/program.ts";
import { bundleCommand } from "../support/children/bundle.ts";
import { temporaryFile } from "../support/mirror.ts";
import { fillStory } from "./story.ts";

const program = await bundleCommand();

function start(values: readonly string[]) {
  return spawn(process.execPath, [program, ...values], {
    stdio: ["ignore", "pipe", "pipe"],
  });
}

async function run(...values: string[]) {
  const child = start(values);
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, "close"),
  ]);
  return { code: code as number, stdout, stderr };
}

const pointer = "(--help shows how to use it)\n";

describe("a command that is misused", () => {
  it.each([
    [["copy", "--frm", "sqlite:x.db"], 2, "unknown option '--frm'\n(Did you mean --from?)\n"],
    [["prune", "--payload", "3d"], 2, "unknown option '--payload'\n(Did you mean --payloads?)\n"],
    [["sandbox", "replay", "tape", "--bogus"], 2, "unknown option '--bogus'\n"],
    [["signature", "detect"], 2, "required option '-b, --body <file>' not specified\n"],
  ])("%j ends with %i, says what is wrong, and where to look", async (values, code, message) => {
    expect(await run(...values)).toEqual({ code, stdout: "", stderr: `error: ${message}${pointer}` });
  });
});

it("a reader of standard output that goes away ends a command quietly", async () => {
  const child = start(["migrate", "--sql"]);
  child.stdout.destroy();
  const [stderr, [code]] = await Promise.all([text(child.stderr), once(child, "close")]);
  expect([code, stderr]).toEqual([0, ""]);
});

describe("in a real process, without a terminal", () => {
  let store: string;
  beforeAll(async () => {
    const file = temporaryFile();
    await fillStory(file);
    store = `sqlite:${file}`;
  });

  it("the columns have no colour, and --json has one object a line", async () => {
    const { code, stdout, stderr } = await run("deliveries", "list", "--limit", "2", "--store", store);
    expect([code, stderr]).toEqual([
      0,
      "Only the first 2 deliveries: there are more. Leave --limit out to see all.\n",
    ]);
    expect(stdout.split("\n")).toHaveLength(4);
    expect(stdout).not.toContain("\u001B");
    const lines = (await run("deliveries", "list", "--json", "--store", store)).stdout.trimEnd().split("\n");
    expect(lines.map((line) => (JSON.parse(line) as { webhookId: string }).webhookId)).toHaveLength(12);
  });

  it.each([
    "status",
    "contracts list",
    "contracts show CNT-1",
    "refunds list",
    "deliveries list",
    "jobs list",
    "anomalies",
    "quarantine list",
    "rebuild",
    "jobs retry --all",
  ])("%s ends quietly where the reader of standard output has gone", async (line) => {
    const child = start([...line.split(" "), "--store", store]);
    child.stdout.destroy();
    const [stderr, [code]] = await Promise.all([text(child.stderr), once(child, "close")]);
    expect(stderr).not.toMatch(/EPIPE|Error|    at /);
    // Of status the exit code is the answer.
    expect(code).toBe(line === "status" ? 1 : 0);
  });

  it("work goes on where nobody reads standard error", async () => {
    const child = start(["rebuild", "--store", store]);
    child.stderr.destroy();
    const [stdout, [code]] = await Promise.all([text(child.stdout), once(child, "close")]);
    expect([code, stdout]).toEqual([0, "3 contracts rebuilt\n"]);
  });
});

it("--help ends with 0 where misuse ends with 2", async () => {
  expect(await run("signature", "detect", "--help")).toMatchObject({ code: 0, stderr: "" });
});

function helpOf(command: Command): string {
  let printed = "";
  command.configureOutput({ writeOut: (part) => (printed += part), getOutHelpWidth: () => 80 }).outputHelp();
  return [printed, ...command.commands.map(helpOf)].join("\n");
}

it.each(createProgram().commands.map((command) => [command.name(), command] as const))(
  "the help of %s and of what is below it fits into 80 columns",
  (_, command) => {
    const lines = helpOf(command).split("\n");
    expect(lines.length).toBeGreaterThan(10);
    expect(lines.filter((line) => line.length > 80)).toEqual([]);
  },
);
