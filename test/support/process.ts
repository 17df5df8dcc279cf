import { spawn, type ChildProcessWithoutNullStreams } from "node:child_process";
import { createInterface } from "node:readline";
import { bundle } from "./children/bundle.ts";

export interface Child {
  readonly process: ChildProcessWithoutNullStreams;
  /** The next line that it prints; fails with what it wrote to stderr when it ends before. */
  line(): Promise<string>;
  /** Its exit code, or the signal that ended it. */
  readonly ended: Promise<number | string>;
  /** What it wrote to stderr so far. */
  errors(): string;
}

/** Starts one of the scripts in `children/`. */
export async function startChild(script: string, ...values: string[]): Promise<Child> {
  return start(script, [await bundle(new URL(`children/${script}.ts`, import.meta.url)), ...values]);
}

export function startScript(path: string, values: readonly string[]): Child {
  return start(path, ["--import", "tsx", path, ...values]);
}

function start(what: string, values: readonly string[]): Child {
  const child = spawn(process.execPath, values, { stdio: "pipe" });
  let errors = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (errors += text));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const ended = new Promise<number | string>((resolve) => {
    child.once("close", (code, signal) => resolve(code ?? signal ?? "unknown"));
  });
  return {
    process: child,
    ended,
    errors: () => errors,
    line: async () => {
      const next = await lines.next();
      if (next.done !== true) return next.value;
      await ended;
      throw new Error(`${what} ended early: ${errors}`);
    },
  };
}
