import { benchPostgres } from "./postgres-bench.ts";

/** Prints the figures of this run on a Postgres of its own. `BENCH_STORED` is how many deliveries the large store holds. */
const stored = Number(process.env["BENCH_STORED"] ?? 1_000_000);
for (const { what, measured, against, ratio, target, met } of await benchPostgres({ stored, onStored }))
  console.log(`${met ? "✓" : "✗"} ${what}: ${measured}\n    ${against}\n    ${ratio.toFixed(2)}×, ${target}`);

function onStored(count: number): void {
  if (count % 50_000 === 0) process.stderr.write(`\r${count.toLocaleString("en")} stored `);
}
