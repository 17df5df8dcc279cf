import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";

const folder = mkdtempSync(join(tmpdir(), "escrow-mirror-exit-"));
afterAll(() => rmSync(folder, { recursive: true }));

const entry = (name: string): string => JSON.stringify(new URL(`../../../src/${name}.ts`, import.meta.url));

/** Says which timers are left once the mirror is closed. */
const program = (options: string): string => `
  import { createMirror } from ${entry("index")};
  import { sqlite } from ${entry("sqlite")};
  const mirror = await createMirror({
    store: sqlite(${JSON.stringify(join(folder, "exit.db"))}),
    webhook: { secrets: "whsec_exit" },
    ${options}
  });
  mirror.on("contract.created", () => undefined, { name: "hears" });
  await mirror.idle();
  await mirror.health();
  await mirror.close();
  console.log(process.getActiveResourcesInfo().filter((kind) => kind === "Timeout").length);
`;

it.each([["jobs: { run: true },"], ["jobs: { run: false },"], [""]])(
  "a closed mirror leaves no timer that keeps its process alive: { %s }",
  (options) => {
    const run = spawnSync(
      process.execPath,
      ["--import", "tsx", "--input-type=module", "-e", program(options)],
      {
        encoding: "utf8",
      },
    );
    expect([run.stdout, run.stderr]).toEqual(["0\n", ""]);
  },
);
