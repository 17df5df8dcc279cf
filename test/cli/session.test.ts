/** The sessions in the pages: each is typed again, and its output stands in the page. `vitest -u` writes them anew. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, it, vi } from "vitest";
import { readText, root } from "../unit/docs/pages.ts";
import { run } from "./run-command.ts";
import { fillStory, sessionAt } from "./story.ts";

const home = process.cwd();
const folder = mkdtempSync(join(tmpdir(), "escrow-mirror-session-"));

beforeAll(() => process.chdir(folder));
afterAll(() => {
  vi.useRealTimers();
  process.chdir(home);
  rmSync(folder, { recursive: true });
});
beforeEach(async () => {
  vi.useRealTimers();
  rmSync("escrow.db", { force: true });
  writeFileSync("escrow-mirror.json", '{ "store": "sqlite:escrow.db" }\n');
  await fillStory("escrow.db");
  vi.useFakeTimers({ toFake: ["Date"], now: sessionAt });
});

/** The page with the output of each command below its prompt. */
async function replay(page: string): Promise<string> {
  const parts = page.split(/(```console\n[^]*?```\n)/);
  const written: string[] = [];
  for (const part of parts) written.push(part.startsWith("```console\n") ? await replayBlock(part) : part);
  return written.join("");
}

async function replayBlock(block: string): Promise<string> {
  const prompts = [...block.matchAll(/^\$ escrow-mirror (.*)$/gm)].map(([, line = ""]) => line);
  const outputs: string[] = [];
  for (const line of prompts) {
    const { both } = await run(line.split(" "));
    outputs.push(`$ escrow-mirror ${line}\n${both.replaceAll(/^$\n/gm, "\n")}`);
  }
  return `\`\`\`console\n${outputs.join("\n")}\`\`\`\n`;
}

it.each(["README.md", "docs/command-line.md"])("the sessions in %s are as they were typed", async (path) => {
  const page = readText(path);
  expect(page).toContain("```console\n$ escrow-mirror ");
  await expect(await replay(page)).toMatchFileSnapshot(join(root, path));
});
