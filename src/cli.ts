#!/usr/bin/env node
/** The command `escrow-mirror`. Each of its commands is one file in `cli/`. */
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
  .showHelpAfterError("(--help shows how to use it)")
  .addCommand(sandboxCommand())
  .addCommand(signatureCommand())
  .addCommand(migrateCommand())
  .addCommand(copyCommand())
  .addCommand(pruneCommand());

await program.parseAsync();
