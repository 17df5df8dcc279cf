import { CommanderError, type Command } from "commander";
import { vi } from "vitest";
import { createProgram } from "../../src/cli/program.ts";

/** What a command printed, and its exit code. */
export interface Ran {
  readonly code: string | number;
  readonly stdout: string;
  readonly stderr: string;
  /** Both, in the order of printing. */
  readonly both: string;
}

/** Runs a command line as `escrow-mirror` does, in this process: starting one for each case would take most of the time. */
export async function run(values: readonly string[], env: Record<string, string> = {}): Promise<Ran> {
  const printed = { stdout: "", stderr: "", both: "" };
  for (const name of ["stdout", "stderr"] as const)
    vi.spyOn(process[name], "write").mockImplementation((text) => {
      printed[name] += String(text);
      printed.both += String(text);
      return true;
    });
  for (const [name, value] of Object.entries({ ESCROW_MIRROR_STORE: "", DATABASE_URL: "", ...env }))
    vi.stubEnv(name, value);
  try {
    const code = await codeOf(values);
    return { code, ...printed };
  } finally {
    process.exitCode = undefined;
    vi.restoreAllMocks();
    vi.unstubAllEnvs();
  }
}

async function codeOf(values: readonly string[]): Promise<string | number> {
  try {
    await createProgram().parseAsync(values, { from: "user" });
    return process.exitCode ?? 0;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return error.exitCode === 0 ? 0 : 2;
  }
}

/** Runs one command, whose output is looked at as a whole. */
export async function runCommand(
  command: Command,
  values: readonly string[],
  env: Record<string, string> = {},
): Promise<{ code: string | number; output: string }> {
  const { code, both } = await run([command.name(), ...values], env);
  return { code, output: both };
}
