/** The common parts of all commands: the options that name the store, --json, and examples in the help. */
import { Command } from "commander";
import { withStoreOptions } from "./stores.ts";
import { readCount } from "./values.ts";
import { wrapHelp } from "./wrap.ts";

/** The texts of a command. */
export interface CommandText {
  readonly name: string;
  readonly description: string;
  /** A command line without `escrow-mirror`, and what it does. */
  readonly examples: readonly (readonly [command: string, what: string])[];
  /** More text above the examples. */
  readonly more?: string;
}

/** A command that works on a store. */
export function storeCommand(text: CommandText): Command {
  return withJson(withStoreOptions(command(text)));
}

/** A command with its examples. */
export function command({ name, description, examples, more }: CommandText): Command {
  return new Command(name).description(description).addHelpText("after", helpAfter(examples, more));
}

function helpAfter(examples: CommandText["examples"], more: string | undefined): string {
  const lines = examples.map(([line, what]) => `  # ${what}\n  escrow-mirror ${line}`);
  return `${more === undefined ? "" : `\n${wrapHelp(more)}\n`}\nExamples:\n${lines.join("\n")}`;
}

/** A command that only groups others. */
export function group(name: string, description: string, commands: readonly Command[]): Command {
  const parent = new Command(name).description(description);
  for (const each of commands) parent.addCommand(each);
  return parent;
}

export function withJson(given: Command): Command {
  return given.option("--json", "one JSON object a line, for programs");
}

/** The option of every list. */
export function withLimit(given: Command): Command {
  return given.option("--limit <count>", "print only so many (default: all)", readCount);
}

/** The options that say how fast contracts are read from the service. */
export interface PaceFlags {
  readonly concurrency?: number;
  readonly perSecond?: number;
}

/** Adds the options of `PaceFlags`. */
export function withPace(given: Command): Command {
  return given
    .option("--concurrency <count>", "contracts read at once, at most 64 (default: 4)", readCount)
    .option("--per-second <count>", "contracts read in a second (default: 50)", readCount);
}
