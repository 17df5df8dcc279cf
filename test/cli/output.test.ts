/** The output of every command, as it was read last: `vitest -u` writes it anew. */
import { existsSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { commandLines, commandOf, everyCommand, openPlace, opensStore, type Place } from "./command-lines.ts";
import { run, type Ran } from "./run-command.ts";
import { sessionAt } from "./story.ts";

const home = process.cwd();
let place: Place;
beforeAll(async () => {
  place = await openPlace();
  process.chdir(place.folder);
  vi.useFakeTimers({ toFake: ["Date"], now: sessionAt });
});
afterAll(async () => {
  vi.useRealTimers();
  process.chdir(home);
  await place.close();
});

/** Types a line, and stops what it leaves running. */
async function type(line: string, store: "story" | "empty" | "missing"): Promise<Ran> {
  const env = await place.reset(store);
  const before = new Set(process.listeners("SIGTERM"));
  // Secrets of the sandbox come from its own options here.
  if (line.startsWith("sandbox ")) for (const name of Object.keys(env)) env[name] = "";
  const ran = await run(line.replace("<url>", place.receiver.url).split(" "), env);
  for (const never of ["sentinel", "\u001B"]) expect(ran.both).not.toContain(never);
  for (const stop of process.listeners("SIGTERM")) if (!before.has(stop)) stop("SIGTERM");
  return ran;
}

/** Ports and the folder differ from run to run. */
function steady(text: string): string {
  return text
    .replaceAll(place.folder, "/srv/shop")
    .replaceAll(/(127\.0\.0\.1|localhost):\d+/g, "$1:PORT")
    .replaceAll(/port \d+/g, "port PORT");
}

/** The tables change with each release, and have tests of their own. */
function beginning(sql: string): string {
  return `${sql.split("\n").slice(0, 9).join("\n")}\n…\n`;
}

async function transcript(lines: readonly string[], store: "story" | "empty"): Promise<string> {
  let written = "";
  for (const line of lines) {
    const { code, stdout, stderr } = await type(line, store);
    const notes = stderr.replaceAll(/^(?=.)/gm, "2> ");
    const printed = line.includes("--sql") ? beginning(stdout) : stdout;
    written += `$ escrow-mirror ${line}\n${steady(printed + notes)}(exit code ${code})\n\n`;
  }
  return written;
}

describe("every command", () => {
  it("has a line in these tests", () => {
    expect(everyCommand.length).toBeGreaterThan(25);
    expect(everyCommand.filter((path) => !commandLines.some((line) => commandOf(line) === path))).toEqual([]);
  });

  it("prints what was read last, on a full store", async () => {
    await expect(await transcript(commandLines, "story")).toMatchFileSnapshot("output.txt");
  });

  it("prints what was read last, on an empty store", async () => {
    const lines = commandLines.filter(opensStore);
    await expect(await transcript(lines, "empty")).toMatchFileSnapshot("output-empty.txt");
  });

  it.each(commandLines.filter((line) => opensStore(line) && line !== "migrate"))(
    "makes no store where there is none: %s",
    async (line) => {
      const { code, stdout, stderr } = await type(line, "missing");
      expect([code, stdout, existsSync("escrow.db"), existsSync("webhook-secret")]).toEqual([
        expect.any(Number),
        "",
        false,
        false,
      ]);
      const misused = ["contracts import", "jobs retry", "prune"].includes(line);
      expect([code, stderr]).toEqual(
        misused
          ? [2, expect.stringMatching(/^error: (Which|Delete what)/)]
          : [
              1,
              `error: There is no file ${place.folder}/escrow.db. Name the file of your app's mirror. (escrow-mirror migrate makes a new one.)\n`,
            ],
      );
    },
  );
});
