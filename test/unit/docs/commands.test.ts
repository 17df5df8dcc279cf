import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { bundleCommand } from "../../support/children/bundle.ts";
import { readPages, type DocPage } from "./pages.ts";

interface Command {
  readonly page: string;
  /** `sandbox`, `signature detect` … */
  readonly words: string;
  readonly flags: readonly string[];
}

/** Every use of the command line in the page: in a shell block, or in a line. */
function commandsIn({ path, text }: DocPage): Command[] {
  const uses = text.replaceAll("\\\n", " ").matchAll(/(?<=`|npx )escrow-mirror ((?:[a-z]+ ?)+)([^`\n#|&]*)/g);
  return [...uses].map(([, words = "", rest = ""]) => ({
    page: path,
    words: words.trim(),
    flags: [...rest.matchAll(/(?<!\S)--?[a-z-]+/g)].map(String),
  }));
}

async function helpOf(words: string): Promise<string> {
  const given = [await bundleCommand(), ...words.split(" "), "--help"];
  return (await promisify(execFile)(process.execPath, given)).stdout;
}

it("every command line in the pages names a command and options that there are", async () => {
  const commands = readPages()
    .filter(({ path }) => path !== "CHANGELOG.md")
    .flatMap(commandsIn);
  expect(commands.length).toBeGreaterThan(8);
  const words = [...new Set(commands.map((command) => command.words))];
  const help = new Map(await Promise.all(words.map(async (each) => [each, await helpOf(each)] as const)));
  const wrong = commands.flatMap(({ page, words: name, flags }) => {
    const text = help.get(name) ?? "";
    if (!text.startsWith(`Usage: escrow-mirror ${name} `)) return [`${page}: ${name}`];
    return flags.filter((flag) => !text.includes(flag)).map((flag) => `${page}: ${name} ${flag}`);
  });
  expect(wrong).toEqual([]);
});
