import process from "node:process";

/** Says what was wrong in one line: a stack trace helps nobody who mistyped a name. */
export async function orExplain(run: () => Promise<void> | void, exitCode = 1): Promise<void> {
  try {
    await run();
  } catch (error) {
    process.stderr.write(`error: ${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = exitCode;
  }
}
