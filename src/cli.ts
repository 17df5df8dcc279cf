#!/usr/bin/env node
/** The command `escrow-mirror`. Each of its commands is one file in `cli/`; what holds for all of them is here. */
import { Command } from "commander";

import manifest from "../package.json" with { type: "json" };
import { copyCommand } from "./cli/copy.ts";
import { migrateCommand } from "./cli/migrate.ts";
import { pruneCommand } from "./cli/prune.ts";
import { sandboxCommand } from "./cli/sandbox.ts";
import { signatureCommand } from "./cli/signature.ts";

const program = new Command("escrow-mirror")
  .version(manifest.version)
  .description("Tools around the mirror of an escrow service.")
  .addCommand(sandboxCommand())
  .addCommand(signatureCommand())
  .addCommand(migrateCommand())
  .addCommand(copyCommand())
  .addCommand(pruneCommand());

explainMisuse(program);
for (const stream of [process.stdout, process.stderr]) stream.on("error", endWithoutReader);
await program.parseAsync();

/** Every command, nested ones too, reports wrong options in one way. */
function explainMisuse(command: Command): void {
  command.showHelpAfterError("(--help shows how to use it)");
  nameUnknownFirst(command);
  command.commands.forEach(explainMisuse);
}

/** Commander would ask for `--body` first where `--bdy` was given, and leave the reader to find out why. */
function nameUnknownFirst(command: Command): void {
  const required = command.options.filter(({ mandatory }) => mandatory);
  for (const option of required) option.makeOptionMandatory(false);
  command.hook("preAction", () => {
    const missing = required.find((option) => command.getOptionValue(option.attributeName()) === undefined);
    if (missing !== undefined) command.error(`error: required option '${missing.flags}' not specified`);
  });
}

/** The reader of a pipe, such as `head`, may go away when it has seen enough: that is no failure. */
function endWithoutReader(error: NodeJS.ErrnoException): void {
  if (error.code !== "EPIPE") throw error;
  process.exit();
}
