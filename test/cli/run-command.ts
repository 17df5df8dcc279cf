import type { Command } from "commander";
import { vi } from "vitest";

/** Runs a command in this process: starting one for each case would take most of the time. */
export async function runCommand(
  command: Command,
  values: readonly string[],
  env: Record<string, string> = {},
): Promise<{ code: string | number; output: string }> {
  let output = "";
  const take = (text: unknown): boolean => (output += String(text)) !== "";
  vi.spyOn(process.stdout, "write").mockImplementation(take);
  vi.spyOn(process.stderr, "write").mockImplementation(take);
  for (const [name, value] of Object.entries({ DATABASE_URL: "", ...env })) vi.stubEnv(name, value);
  try {
    await command.parseAsync(values, { from: "user" });
    return { code: process.exitCode ?? 0, output };
  } finally {
    process.exitCode = undefined;
    vi.restoreAllMocks();
    vi.unstubAllEnvs();
  }
}
