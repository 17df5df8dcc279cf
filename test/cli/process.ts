/** The command in a process of its own, without a terminal. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { bundleCommand } from "../support/children/bundle.ts";

const program = await bundleCommand();

/** The arguments of Node that run a command line. */
export function nodeArguments(values: readonly string[]): string[] {
  return [program, ...values];
}

export function start(values: readonly string[], where: { cwd?: string; env?: Record<string, string> } = {}) {
  return spawn(process.execPath, nodeArguments(values), {
    cwd: where.cwd,
    env: { ...process.env, ...where.env },
    stdio: ["ignore", "pipe", "pipe"],
  });
}

export async function ended(child: ReturnType<typeof start>) {
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, "close"),
  ]);
  return { code: code as number, stdout, stderr };
}
