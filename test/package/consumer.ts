/** A project in a folder of its own that has installed the packed tarball. */
import { execFile } from "node:child_process";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";

export const root = new URL("../..", import.meta.url).pathname;

/** Resolves with what the program printed; rejects with all that it said. */
export async function run(
  command: string,
  args: readonly string[],
  options: { cwd?: string; env?: Record<string, string> } = {},
): Promise<string> {
  const env = { ...process.env, NODE_NO_WARNINGS: "1", ...options.env };
  try {
    const { stdout } = await promisify(execFile)(command, args, { cwd: options.cwd ?? root, env });
    return stdout.trim();
  } catch (error) {
    const { stdout, stderr } = error as { stdout?: string; stderr?: string };
    throw new Error(`${command} ${args.join(" ")} failed\n${stdout}\n${stderr}`, { cause: error });
  }
}

export interface Consumer {
  readonly folder: string;
  readonly node: string;
  write(name: string, text: string): void;
  runNode(...args: string[]): Promise<string>;
}

export function createConsumer(folder: string, node = process.execPath): Consumer {
  mkdirSync(join(folder, "node_modules"), { recursive: true });
  const write = (name: string, text: string): void => writeFileSync(join(folder, name), text);
  const manifest = {
    name: "consumer",
    version: "1.0.0",
    private: true,
    allowScripts: { "better-sqlite3": true },
  };
  write("package.json", JSON.stringify(manifest));
  return { folder, node, write, runNode: (...args) => run(node, args, { cwd: folder }) };
}

/** Through npm, as a user of that Node would: what is compiled is compiled for it, with the headers that it comes with. */
export async function install({ folder, node }: Consumer, ...packages: string[]): Promise<void> {
  const bin = dirname(node);
  const env = { PATH: `${bin}${delimiter}${process.env["PATH"]}`, npm_config_nodedir: dirname(bin) };
  await run("npm", ["install", "--no-audit", "--no-fund", "--force", ...packages], { cwd: folder, env });
}

/** The tarball unpacked, its dependencies and some peers linked to those of this checkout: nothing is downloaded. */
export async function link({ folder }: Consumer, tarball: string, peers: readonly string[]): Promise<void> {
  const home = join(folder, "node_modules", "escrow-mirror");
  mkdirSync(home, { recursive: true });
  await run("tar", ["xzf", tarball, "--strip-components=1", "-C", home]);
  const { dependencies } = JSON.parse(readFileSync(join(home, "package.json"), "utf8")) as {
    dependencies: Record<string, string>;
  };
  for (const name of [...Object.keys(dependencies), ...peers]) {
    const place = join(folder, "node_modules", name);
    mkdirSync(join(place, ".."), { recursive: true });
    symlinkSync(join(root, "node_modules", name), place);
  }
}
