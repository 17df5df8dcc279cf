/** Programs that tests start as processes, each in one file: it starts in a tenth of the time that its sources take. */
import { mkdirSync, renameSync, writeFileSync } from "node:fs";
import { relative } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = new URL("../../../", import.meta.url);
// Below the package, where the bundle finds the packages that it leaves out, and this one by its name.
const folder = fileURLToPath(new URL(".tmp/programs/", root));
const built = new Map<string, Promise<string>>();

/** Bundles a TypeScript file, once for each worker, and gives the path of what Node can run. */
export function bundle(entry: URL): Promise<string> {
  const source = fileURLToPath(entry);
  const path = built.get(source) ?? write(source);
  built.set(source, path);
  return path;
}

/** The command `escrow-mirror`. */
export function bundleCommand(): Promise<string> {
  return bundle(new URL("src/cli.ts", root));
}

async function write(source: string): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [source],
    bundle: true,
    platform: "node",
    target: "node20",
    format: "esm",
    write: false,
    logLevel: "warning",
    // A native module can't be in a bundle.
    external: ["better-sqlite3", "pg"],
    // For packages that are CommonJS still.
    banner: {
      js: 'import { createRequire as from } from "node:module"; const require = from(import.meta.url);',
    },
  });
  const name = relative(fileURLToPath(root), source).replaceAll(/[/\\]/g, "-");
  const path = `${folder}${name}.mjs`;
  mkdirSync(folder, { recursive: true });
  // At once: another worker may start the same program.
  writeFileSync(`${path}.${process.pid}`, outputFiles[0]?.contents ?? "");
  renameSync(`${path}.${process.pid}`, path);
  return path;
}
