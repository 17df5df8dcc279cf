/** The command line on a pseudo-terminal, which `script` of Debian makes. */
import { execFile } from "node:child_process";
import { promisify, stripVTControlCharacters } from "node:util";
import { beforeAll, expect, it } from "vitest";
import { nodeArguments } from "../cli/process.ts";
import { fillStory } from "../cli/story.ts";
import { temporaryFile } from "../support/mirror.ts";

let store: string;
beforeAll(async () => {
  const file = temporaryFile();
  await fillStory(file);
  store = `sqlite:${file}`;
});

/** The bytes that a terminal of this width gets. */
async function shownOn(columns: number, line: string, env: Record<string, string> = {}): Promise<string> {
  const command = [process.execPath, ...nodeArguments([])].map((part) => `'${part}'`).join(" ");
  const { stdout } = await promisify(execFile)(
    "script",
    ["-qc", `stty cols ${columns}; ${command} ${line}`, "/dev/null"],
    { env: { ...process.env, TERM: "xterm", ESCROW_MIRROR_STORE: store, ...env } },
  );
  return stdout.replaceAll("\r\n", "\n");
}

const lines = ["contracts show CNT-1", "contracts show CNT-2", "refunds list", "contracts list", "jobs list"];

it.each(lines)("%s fits a terminal of 80 columns, but for a line that cannot be broken", async (line) => {
  const shown = stripVTControlCharacters(await shownOn(80, line));
  const tooLong = shown.split("\n").filter((each) => each.length > 80);
  expect(tooLong.filter((each) => each.trim().includes(" ") && !/^ {4}|^!|^-/.test(each))).toEqual([]);
});

it("a terminal gets colours, and none with NO_COLOR", async () => {
  expect(await shownOn(80, "jobs list")).toContain("\u001B[31mdead");
  expect(await shownOn(80, "jobs list", { NO_COLOR: "1" })).not.toContain("\u001B");
});

it("the way of a contract is broken between steps, and its lines begin below each other", async () => {
  const shown = await shownOn(60, "contracts show CNT-1", { NO_COLOR: "1" });
  expect(shown).toContain(
    "Way        pending → Approved → Escrow → [RefundInProgress]\n           → Refunded | Cancelled | PartiallyRefunded\n",
  );
});

it("in a narrow terminal each cell has a line of its own", async () => {
  const shown = await shownOn(40, "jobs list", { NO_COLOR: "1" });
  expect(shown).toContain("ID          1\nHANDLER     email-seller\nSTATE       dead\n");
});
