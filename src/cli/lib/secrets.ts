import { parseEnv } from "node:util";
import { Misuse } from "./explain.ts";
import { readInput } from "./input.ts";

/**
 * Secrets come from the environment or from a file of `NAME=value` lines, never from the command line, where the
 * process list and the shell's history show them. The file wins.
 */
export function loadSecrets<const Name extends string>(
  names: readonly Name[],
  path: string | undefined,
): Partial<Record<Name, string>> {
  const file = path === undefined ? {} : readSecretsFile(path);
  const found: Partial<Record<Name, string>> = {};
  for (const name of names) {
    const value = file[name] ?? process.env[name];
    if (value !== undefined && value !== "") found[name] = value;
  }
  return found;
}

function readSecretsFile(path: string): NodeJS.Dict<string> {
  const text = readInput(path, "--secrets-file")
    .toString("utf8")
    .replace(/^\uFEFF/, "");
  // Only the entries: parseEnv of Node 20 reads a line of spaces as a part of the next name.
  return parseEnv(entriesOf(text, path).join("\n"));
}

/** A blank line, a comment, or `NAME=value`; a value in quotes may have several lines, as `parseEnv` allows. */
const entry = /[ \t]*(?:#.*|((?:export[ \t]+)?[\w.-]+[ \t]*=[ \t]*(?:(["'`])[^]*?\2.*|.*))|)(?:\r?\n|$)/y;

/** Finds a wrong line. `parseEnv` would skip it, and the secret would be missing, or a default. */
function entriesOf(text: string, path: string): string[] {
  const entries: string[] = [];
  for (let at = 0; at < text.length; at = entry.lastIndex) {
    entry.lastIndex = at;
    const found = entry.exec(text);
    if (found === null) throw wrongLine(text.slice(0, at).split("\n").length, path);
    if (found[1] !== undefined) entries.push(found[1]);
  }
  return entries;
}

/** Names the line by its number only: its text may be the secret. */
function wrongLine(line: number, path: string): Misuse {
  return new Misuse(
    `--secrets-file: line ${line} of ${path} is not of the form NAME=value, as in ESCROW_WEBHOOK_SECRET=whsec_….`,
  );
}
