import { once } from "node:events";
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import type { Command } from "commander";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createProgram } from "../../src/cli/program.ts";
import { commandLines, commandOf, everyCommand, openPlace, type Place } from "./command-lines.ts";
import { temporaryFile } from "../support/mirror.ts";
import { ended, start } from "./process.ts";

function run(...values: string[]) {
  return ended(start(values));
}

const pointer = "(--help shows how to use it)\n";

describe("a command that is misused", () => {
  it.each([
    [["copy", "--frm", "sqlite:x.db"], 2, "unknown option '--frm'\n(Did you mean --from?)\n"],
    [["prune", "--payload", "3d"], 2, "unknown option '--payload'\n(Did you mean --payloads?)\n"],
    [["sandbox", "replay", "tape", "--bogus"], 2, "unknown option '--bogus'\n"],
    [
      ["contracts", "list", "--status", ","],
      2,
      "option '--status <name...>' argument ',' is invalid. Give a status, such as Escrow.\n",
    ],
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

function noSuch(status: string): RegExp {
  return new RegExp(
    `^No contract has the status ${status}\\. Known ones: pending, Draft, .*, unknown\\.$`,
    "m",
  );
}

describe("in a real process, without a terminal", () => {
  let place: Place;
  let env: Record<string, string>;
  beforeAll(async () => {
    place = await openPlace();
    env = await place.reset("story");
  });
  afterAll(() => place.close());
  /** Each has a store of its own: some erase and some read, at the same time. */
  const startHere = (line: string, more: readonly string[] = []) => {
    const file = temporaryFile();
    copyFileSync(join(place.folder, "story.db"), file);
    return start([...line.replace("<url>", place.receiver.url).split(" "), ...more], {
      cwd: place.folder,
      env: { ...env, ESCROW_MIRROR_STORE: `sqlite:${file}` },
    });
  };

  it.each([
    [1, "There is more than 1 contract: leave --limit out to see all.\n"],
    [2, "There are more than 2 contracts: leave --limit out to see all.\n"],
    [3, ""],
    [4, ""],
  ])("--limit %i of three contracts prints so many", async (limit, note) => {
    const { stdout, stderr } = await ended(startHere(`contracts list --limit ${limit} --json`));
    expect([stdout.trimEnd().split("\n").length, stderr]).toEqual([Math.min(limit, 3), note]);
  });

  it.each([
    [["--status", "Escrow,RefundInProgress"], 2, /^$/],
    [["--status", " escrow, refundinprogress,"], 2, /^$/],
    [["--status", "escrow", "--status", "RefundInProgress"], 2, /^$/],
    [["--status", "escrow", "RefundInProgress"], 2, /^$/],
    [["--status", "RefundInProgress,Escro"], 2, noSuch("Escro")],
    [["--status", "UNKNOWN"], 0, /^No contracts found\.\n$/],
    [["--status", "disputed"], 0, /^No contracts found\.\n$/],
    [["--status", "Frozen\u001B"], 0, noSuch("Frozen\\\\u001b")],
  ])("contracts list %j prints %i, and names a status that no contract has", async (flags, found, note) => {
    const { code, stdout, stderr } = await ended(startHere("contracts list --json", flags));
    expect([code, stdout.split("\n").length - 1]).toEqual([0, found]);
    expect(stderr).toMatch(note);
  });

  it("the columns have no colour, and --limit says that there is more", async () => {
    const { code, stdout, stderr } = await ended(startHere("deliveries list --limit 2"));
    expect([code, stderr]).toEqual([0, "There are more than 2 deliveries: leave --limit out to see all.\n"]);
    expect(stdout.split("\n")).toHaveLength(4);
    expect(stdout).not.toContain("\u001B");
  });

  // One line of each command; a list of commands that grows with the program.
  it.concurrent.each(
    everyCommand.map((command) => commandLines.find((line) => commandOf(line) === command) ?? command),
  )("%s ends quietly where the reader of standard output has gone", async (line) => {
    const child = startHere(line);
    child.stdout.destroy();
    const [stderr, [code]] = await Promise.all([text(child.stderr), once(child, "close")]);
    expect(stderr).not.toMatch(/EPIPE|Error:|    at /);
    // The service of this place answers only ids of its own form, and a status that is not well is an answer.
    const failing =
      /^(status|contracts (refresh|import)|deliveries replay|quarantine (release|dismiss)|jobs retry|reconcile)/;
    expect([code, failing.test(line)]).toEqual([code === 0 ? 0 : 1, code === 1]);
  });

  it("work goes on where nobody reads standard error", async () => {
    const child = startHere("rebuild");
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
