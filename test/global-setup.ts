/** The examples import the package through its own exports: it is built once before them, unless the build is newer than all sources. */
import { execFile } from "node:child_process";
import { readdirSync, statSync } from "node:fs";
import { promisify } from "node:util";

const root = new URL("..", import.meta.url);

export async function setup(): Promise<void> {
  if (isFresh()) return;
  // Without types, and without removing those that a full build has made: nothing here type-checks.
  await promisify(execFile)("npx", ["tsup", "--silent", "--no-dts", "--no-clean"], { cwd: root });
}

function isFresh(): boolean {
  const built = changedAt("dist/index.js");
  const sources = [...filesIn("src"), ...filesIn("adapters"), "package.json"];
  return sources.every((path) => changedAt(path) < built);
}

function filesIn(folder: string): string[] {
  const names = readdirSync(new URL(folder, root), { recursive: true, encoding: "utf8" });
  return names.filter((name) => name.endsWith(".ts")).map((name) => `${folder}/${name}`);
}

function changedAt(path: string): number {
  return statSync(new URL(path, root), { throwIfNoEntry: false })?.mtimeMs ?? 0;
}
