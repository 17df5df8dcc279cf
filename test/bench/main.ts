import { writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { benchCli } from "./cli-bench.ts";
import { benchHttp } from "./http/bench.ts";
import { benchJobs } from "./jobs/bench.ts";
import { benchPostgres } from "./postgres-bench.ts";
import { benchReads } from "./reads-bench.ts";
import { benchReceive } from "./receive-bench.ts";
import { benchSize } from "./size-bench.ts";
import type { Figure } from "./stopwatch.ts";
import { benchTelemetry } from "./telemetry-bench.ts";
import { benchVerify } from "./verify-bench.ts";

const stored = Number(process.env["BENCH_STORED"] ?? 1_000_000);

/**
 * Prints one table of this run and writes it to bench.json. `BENCH_ONLY=verify,http` runs some sections and writes no file;
 * `BENCH_STORED` is how many deliveries, or contracts, the large store holds.
 */
const sections: Record<string, () => Promise<Figure[]>> = {
  verify: benchVerify,
  receive: benchReceive,
  telemetry: benchTelemetry,
  jobs: benchJobs,
  http: benchHttp,
  reads: () => benchReads({ stored }),
  cli: () => benchCli(stored),
  size: () => benchSize(stored, progress),
  postgres: () => benchPostgres({ stored, onStored: progress }),
};
const only = process.env["BENCH_ONLY"]?.split(",");
const figures: Figure[] = [];

console.log(`node ${process.version}, ${cpus().length} × ${cpus()[0]?.model ?? "unknown processor"}\n`);
for (const name of only ?? Object.keys(sections)) await runSection(name);
if (only === undefined)
  writeFileSync("bench.json", `${JSON.stringify({ node: process.version, figures }, null, 2)}\n`);
const missed = figures.filter(({ met }) => !met).length;
console.log(`\n${figures.length} figures, ${missed} short of their target`);
// A section that failed may have left a server running.
process.exit();

/** What one section can't measure, it says; the others are measured all the same. */
async function runSection(name: string): Promise<void> {
  const section = sections[name];
  if (section === undefined)
    throw new Error(`BENCH_ONLY: no section "${name}" among ${Object.keys(sections).join()}`);
  try {
    figures.push(...show(await section()));
  } catch (error) {
    console.error(`✗ ${name} could not be measured:`, error);
    process.exitCode = 1;
  }
}

function show(section: Figure[]): Figure[] {
  for (const { what, measured, against, ratio, target, met } of section)
    console.log(
      `${met ? "✓" : "✗"} ${what}: ${measured}\n    ${against}\n    ${ratio.toFixed(2)}×, ${target}`,
    );
  return section;
}

function progress(count: number): void {
  if (process.stderr.isTTY && count % 50_000 === 0)
    process.stderr.write(`\r${count.toLocaleString("en")} stored `);
}
