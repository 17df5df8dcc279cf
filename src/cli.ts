#!/usr/bin/env node
/** The command `escrow-mirror`. Each of its commands is one file in `cli/`. */
import { CommanderError } from "commander";
import manifest from "../package.json" with { type: "json" };
import { exitCodes } from "./cli/lib/explain.ts";
import { createProgram } from "./cli/program.ts";

// The reader of a pipe, such as `head`, may go away when it has seen enough: that is no failure. Who closes standard error
// wants no notes.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") throw error;
  process.exit();
});
process.stderr.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") throw error;
});

try {
  await createProgram(manifest.version).parseAsync();
} catch (error) {
  // It has said what is wrong, or printed its help.
  if (!(error instanceof CommanderError)) throw error;
  process.exitCode = error.exitCode === 0 ? exitCodes.done : exitCodes.misused;
}
