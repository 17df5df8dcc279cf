/** Data goes to standard output; notes, progress and errors go to standard error. */
import process from "node:process";

/** Resolves when the reader has room for more. Otherwise a long list would fill this process's memory. */
export async function print(lines: readonly string[]): Promise<void> {
  if (lines.length === 0 || isReaderGone) return;
  if (process.stdout.write(`${lines.join("\n")}\n`)) return;
  await new Promise<void>((resolve) => {
    for (const event of ["drain", "error"]) process.stdout.once(event, () => resolve());
  });
}

let isReaderGone = false;

/** The reader of standard output, such as `head`, has ended. Lists end too. Work goes on, and its exit code shows the result. */
export function forgetReader(): void {
  isReaderGone = true;
}

/** `false` if nobody reads standard output any more. */
export function hasReader(): boolean {
  return !isReaderGone;
}

/** One JSON object on one line. */
export function printJson(value: unknown): Promise<void> {
  return print([JSON.stringify(value)]);
}

/** Prints a sentence for a person. It goes to standard error, so a program that reads the data does not get it. */
export function note(sentence: string): void {
  process.stderr.write(`${sentence}\n`);
}
