#!/usr/bin/env node
/** The command `escrow-mirror`. Each of its commands is one file in `cli/`. */
import { CommanderError } from "commander";
import manifest from "../package.json" with { type: "json" };
import { exitCodes } from "./cli/lib/explain.ts";
import { forgetReader, hasReader } from "./cli/lib/print.ts";
import { createProgram } from "./cli/program.ts";

// The reader of a pipe, such as `head`, may end when it has seen enough: that is no failure. If nobody reads standard error,
// the notes are lost and the work goes on.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE" && hasReader()) throw error;
  forgetReader();
});
process.stderr.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") throw error;
});

try {
  await createProgram(manifest.version).parseAsync();
} catch (error) {
  // Commander has already printed the error, or the help.
  if (!(error instanceof CommanderError)) throw error;
  process.exitCode = error.exitCode === 0 ? exitCodes.done : exitCodes.misused;
}
