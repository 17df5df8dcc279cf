import process from "node:process";
import { isEscrowMirrorError } from "../../shared/errors.ts";
import { plain } from "./plain.ts";

/** The exit codes of every command. */
export const exitCodes = { done: 0, failed: 1, misused: 2, stopped: 130 } as const;

/** The command was used wrongly: an option, an argument or a file can't be used, or no store is named. */
export class Misuse extends Error {}

/** Ctrl+C or SIGTERM ended the work. */
export class Stopped extends Error {}

/** Runs a command, and prints an error as one line without a stack trace. */
export async function orExplain(run: () => Promise<void> | void): Promise<void> {
  try {
    await run();
  } catch (error) {
    process.stderr.write(`error: ${plain(error instanceof Error ? error.message : String(error))}\n`);
    process.exitCode = exitCodeOf(error);
  }
}

function exitCodeOf(error: unknown): number {
  if (error instanceof Stopped) return exitCodes.stopped;
  const isMisuse =
    error instanceof Misuse || isEscrowMirrorError(error, "invalid-argument", "invalid-configuration");
  return isMisuse ? exitCodes.misused : exitCodes.failed;
}
