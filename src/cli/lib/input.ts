import { Misuse } from "./explain.ts";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";

/** Reads the file that an option names; `-` is standard input. */
export function readInput(path: string, option: string): Buffer {
  try {
    return readFileSync(path === "-" ? 0 : path);
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code ?? "unknown";
    if (code === "ENOENT") throw new Misuse(`${option}: there is no file ${resolve(path)}.`, { cause });
    throw new Misuse(`${option}: ${path} can't be read (${code}).`, { cause });
  }
}
