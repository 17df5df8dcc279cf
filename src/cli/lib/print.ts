/** Data goes to standard output; notes, progress and errors go to standard error. */
import { once } from "node:events";
import process from "node:process";

/** Resolves when there is room for more: a slow reader of a long list holds it up, and not this process's memory. */
export async function print(lines: readonly string[]): Promise<void> {
  if (lines.length === 0) return;
  if (!process.stdout.write(`${lines.join("\n")}\n`)) await once(process.stdout, "drain");
}

/** One JSON object on one line. */
export function printJson(value: unknown): Promise<void> {
  return print([JSON.stringify(value)]);
}

/** A sentence for a person. A program that reads the data does not get it. */
export function note(sentence: string): void {
  process.stderr.write(`${sentence}\n`);
}
