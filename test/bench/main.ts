import { writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { benchReceive } from "./receive-bench.ts";
import { benchSize } from "./size-bench.ts";
import type { Figure } from "./stopwatch.ts";
import { benchVerify } from "./verify-bench.ts";

/** Prints one table of this run and writes it to bench.json. `BENCH_STORED` is how many deliveries the large store holds. */
const stored = Number(process.env["BENCH_STORED"] ?? 1_000_000);
const figures: Figure[] = [];

console.log(`node ${process.version}, ${cpus().length} × ${cpus()[0]?.model ?? "unknown processor"}\n`);
figures.push(...show(await benchVerify()));
figures.push(...show(await benchReceive()));
figures.push(...show(await benchSize(stored, progress)));
writeFileSync("bench.json", `${JSON.stringify({ node: process.version, figures }, null, 2)}\n`);
const missed = figures.filter(({ met }) => !met).length;
console.log(`\n${figures.length} figures, ${missed} short of their target; also in bench.json`);

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
