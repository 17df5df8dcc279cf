import type { Command } from "commander";
import { expect, it } from "vitest";
import { createProgram } from "../../src/cli/program.ts";

function leavesOf(command: Command): Command[] {
  return command.commands.length === 0 ? [command] : command.commands.flatMap(leavesOf);
}

/** The help of a command with those above it, as `--help` prints it. */
function helpOf(command: Command): string {
  let printed = "";
  command.configureOutput({ writeOut: (part) => (printed += part), getOutHelpWidth: () => 80 }).outputHelp();
  return printed.trimEnd();
}

const leaves = leavesOf(createProgram());

it("the help of every command is as it was read last: vitest -u writes it anew", async () => {
  const text = leaves.map(helpOf).join(`\n\n${"-".repeat(80)}\n\n`);
  await expect(`${text}\n`).toMatchFileSnapshot("help.txt");
});

it("every command has examples, and takes --json", () => {
  const ours = leaves.filter(
    (command) => command.parent?.name() !== "sandbox" && command.name() !== "sandbox",
  );
  const without = (text: string) =>
    ours.filter((each) => !helpOf(each).includes(text)).map((each) => each.name());
  expect(ours.length).toBeGreaterThan(20);
  expect(without("--json")).toEqual([]);
  expect(without("Examples:")).toEqual([]);
});
