import { readFileSync } from "node:fs";
import { parseEnv } from "node:util";

/**
 * Secrets come from the environment or from a file of `NAME=value` lines, never from the command line, where the
 * process list and the shell's history show them. The file wins.
 */
export function loadSecrets<const Name extends string>(
  names: readonly Name[],
  path: string | undefined,
): Partial<Record<Name, string>> {
  const file = path === undefined ? {} : parseEnv(readFileSync(path, "utf8"));
  const found: Partial<Record<Name, string>> = {};
  for (const name of names) {
    const value = file[name] ?? process.env[name];
    if (value !== undefined && value !== "") found[name] = value;
  }
  return found;
}
