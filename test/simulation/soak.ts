/** `npm run soak`: the laws and the simulation at their full counts, then the mutants of the domain, with a summary at the end. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { secondsSince, tellRan, type Ran } from "./report.ts";

const fullCounts = {
  CASES: "100000",
  KILLS: "1000",
  RACES: "1000",
  ROUNDS: "500",
  FUZZ_SECONDS: "300",
  KIT_SCALE: "10",
  SOAK: "1",
};

const folder = mkdtempSync(join(tmpdir(), "escrow-mirror-soak-"));
const summary = join(folder, "summary.jsonl");
writeFileSync(summary, "");
const start = performance.now();
const failed = (await runTests()) + (await run(["tsx", "test/mutants/domain.ts"], process.env)) !== 0;
const ran = readFileSync(summary, "utf8")
  .split("\n")
  .filter((line) => line !== "")
  .map((line) => JSON.parse(line) as Ran);
rmSync(folder, { recursive: true });

const cases = ran.reduce((sum, { counts }) => sum + (counts["cases"] ?? 0), 0);
console.log("\nSoak\n");
for (const each of ran) console.log(`  ${tellRan(each)}`);
console.log(
  `\n  ${cases.toLocaleString("en")} cases of the laws, ${secondsSince(start).toFixed(0)} s in all`,
);
console.log(failed ? "  FAILED: see above; SEED=… repeats a run" : "  everything held");
process.exitCode = failed ? 1 : 0;

/** One file after another: the soak may take long, but not the whole machine. */
function runTests(): Promise<number> {
  const vitest = ["vitest", "run", "--config", "test/vitest.config.ts", "--no-file-parallelism"];
  const folders = ["property", "simulation", "postgres", "kit", "reconcile", "retention", "healing"].map(
    (name) => `test/${name}`,
  );
  return run([...vitest, ...folders], { ...fullCounts, ...process.env, SOAK_SUMMARY: summary });
}

async function run(command: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  const child = spawn("npx", command, { env, stdio: "inherit" });
  const [code] = (await once(child, "exit")) as [number | null];
  return code ?? 1;
}
