/** Puts all commands together. */
import { Command } from "commander";
import { anomaliesCommand } from "./anomalies.ts";
import { contractsCommand } from "./contracts.ts";
import { copyCommand } from "./copy.ts";
import { deliveriesCommand } from "./deliveries.ts";
import { jobsCommand } from "./jobs.ts";
import { migrateCommand } from "./migrate.ts";
import { pruneCommand } from "./prune.ts";
import { quarantineCommand } from "./quarantine.ts";
import { rebuildCommand } from "./rebuild.ts";
import { reconcileCommand } from "./reconcile.ts";
import { redactCommand } from "./redact.ts";
import { refundsCommand } from "./refunds.ts";
import { sandboxCommand } from "./sandbox.ts";
import { signatureCommand } from "./signature.ts";
import { statusCommand } from "./status.ts";
import { subscriptionCommand } from "./subscription.ts";
import { wrapHelp } from "./lib/wrap.ts";

const help = `
Where the mirror is: --store, else ESCROW_MIRROR_STORE, else "store" in escrow-mirror.json, else
DATABASE_URL. Secrets, and an address with a password, come from the environment or a file
(--secrets-file), never from the command line.

Data goes to standard output; notes, progress and errors go to standard error. --json prints one
object a line.

Exit codes: 0 done, and all is well; 1 failed, not found, or a person must do something; 2 the
command was used wrongly; 130 Ctrl+C or SIGTERM ended it.`;

/** The command `escrow-mirror`. It throws a `CommanderError` for wrong options, and after `--help`. */
export function createProgram(version = "unknown"): Command {
  const program = new Command("escrow-mirror")
    .version(version)
    // The sandbox and its replay have options of the same names: each takes those after its own word.
    .enablePositionalOptions()
    .description("Show what is in a mirror of an escrow service, what is stuck, and what to do.")
    .addHelpText("after", wrapHelp(help))
    .addCommand(statusCommand())
    .addCommand(contractsCommand())
    .addCommand(refundsCommand())
    .addCommand(deliveriesCommand())
    .addCommand(quarantineCommand())
    .addCommand(anomaliesCommand())
    .addCommand(jobsCommand())
    .addCommand(reconcileCommand())
    .addCommand(subscriptionCommand())
    .addCommand(rebuildCommand())
    .addCommand(pruneCommand())
    .addCommand(redactCommand())
    .addCommand(migrateCommand())
    .addCommand(copyCommand())
    .addCommand(signatureCommand())
    .addCommand(sandboxCommand());
  explainMisuse(program);
  return program;
}

/** Makes every command, nested ones too, report wrong options in the same way. */
function explainMisuse(command: Command): void {
  command.showHelpAfterError("(--help shows how to use it)").exitOverride();
  nameUnknownFirst(command);
  command.commands.forEach(explainMisuse);
}

/** For `--bdy` Commander would say that `--body` is missing. The unknown option is the better message. */
function nameUnknownFirst(command: Command): void {
  const required = command.options.filter(({ mandatory }) => mandatory);
  for (const option of required) option.makeOptionMandatory(false);
  command.hook("preAction", () => {
    const missing = required.find((option) => command.getOptionValue(option.attributeName()) === undefined);
    if (missing !== undefined) command.error(`error: required option '${missing.flags}' not specified`);
  });
}
