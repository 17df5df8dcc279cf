/**
 * `npm run mutants:domain`: Stryker changes the expressions of `src/domain` one by one, and runs the unit tests and a law against
 * each. It fails when the score is too low, and when a survivor is not named in domain-survivors.md, with the reason. Names of
 * files after it pick some: `npm run mutants:domain -- fold refund`.
 */
import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import { Stryker } from "@stryker-mutator/core";

const scoreMin = 92;

process.chdir(fileURLToPath(new URL("../..", import.meta.url)));
const names = process.argv.slice(2);

type MutantResult = Awaited<ReturnType<Stryker["runMutationTest"]>>[number];

const results = await new Stryker({
  mutate: names.length === 0 ? ["src/domain/*.ts"] : names.map((name) => `src/domain/${name}.ts`),
  ignorePatterns: ["**", "!src/**", "!test/**", "!adapters/**", "!package.json", "!tsconfig.json"],
  plugins: ["@stryker-mutator/vitest-runner"],
  testRunner: "vitest",
  vitest: { configFile: "test/mutants/vitest.domain.config.ts", related: false },
  coverageAnalysis: "perTest",
  concurrency: 2,
  // On a machine that others use too, a loop takes long to reach its limit.
  timeoutMS: 240_000,
  // A part is tried anew each time.
  incremental: names.length === 0,
  incrementalFile: ".tmp/stryker/incremental.json",
  tempDirName: ".tmp/stryker/trees",
  reporters: ["progress-append-only"],
  allowConsoleColors: false,
}).runMutationTest();
process.exitCode = judge(results) ? 0 : 1;

function judge(mutants: readonly MutantResult[]): boolean {
  const listed = listedSurvivors();
  const alive = mutants.filter(isAlive);
  for (const file of new Set(mutants.map(({ fileName }) => fileName)))
    console.log(
      tellScore(
        basename(file),
        mutants.filter(({ fileName }) => fileName === file),
      ),
    );
  console.log(tellScore("all", mutants));
  const unlisted = alive.filter((mutant) => !listed.has(tell(mutant)));
  for (const mutant of unlisted)
    console.log(`${mutant.status}, and not in domain-survivors.md: | ${tell(mutant)} |`);
  const known = new Set(alive.map(tell));
  const gone = names.length > 0 ? [] : [...listed].filter((mutant) => !known.has(mutant));
  for (const mutant of gone) console.log(`is in domain-survivors.md, and does not survive: | ${mutant} |`);
  return unlisted.length === 0 && gone.length === 0 && scoreOf(mutants) >= scoreMin;
}

/** Mutants that do not compile, or that a comment turns off, count for nothing. */
function isTried({ status }: MutantResult): boolean {
  return ["Killed", "Survived", "NoCoverage", "Timeout"].includes(status);
}

/** A test that ran out of time proves nothing on a machine that others use. A count of loops does, on any. */
function isAlive(mutant: MutantResult): boolean {
  const isLooping = mutant.statusReason?.startsWith("Hit limit reached") ?? false;
  return isTried(mutant) && mutant.status !== "Killed" && !isLooping;
}

function scoreOf(mutants: readonly MutantResult[]): number {
  const tried = mutants.filter(isTried);
  return (100 * tried.filter((mutant) => !isAlive(mutant)).length) / tried.length;
}

function tellScore(name: string, mutants: readonly MutantResult[]): string {
  const tried = mutants.filter(isTried);
  const alive = tried.filter(isAlive).length;
  return `${name.padEnd(16)} ${scoreOf(mutants).toFixed(2).padStart(6)} %  ${tried.length - alive} killed, ${alive} survived`;
}

/** As a row of the list has it: file, line as it stands, change. */
function tell({ fileName, location, replacement }: MutantResult): string {
  const lines = readFileSync(fileName, "utf8").split("\n");
  const { start, end } = location;
  const stands = lines.slice(start.line - 1, end.line).join("\n");
  const tail = (lines[end.line - 1] ?? "").length - end.column + 1;
  const before = short(stands.slice(start.column - 1, stands.length - tail));
  const line = lines[start.line - 1] ?? "";
  return [basename(fileName), code(short(line)), code(`${before} → ${short(replacement ?? "")}`)].join(" | ");
}

function short(text: string): string {
  const line = text.replaceAll(/\s+/g, " ").trim();
  return line.length <= 60 ? line : `${line.slice(0, 59)}…`;
}

/** A bar would end the cell of a table. */
function code(text: string): string {
  return `\`${text.replaceAll("`", "'").replaceAll("|", "\\|")}\``;
}

/** The first three cells of each row. */
function listedSurvivors(): Set<string> {
  const text = readFileSync(new URL("domain-survivors.md", import.meta.url), "utf8");
  const rows = text.split("\n").filter((line) => /^\| [\w-]+\.ts /.test(line));
  return new Set(rows.map((row) => cellsOf(row).slice(0, 3).join(" | ")));
}

function cellsOf(row: string): string[] {
  const cells = row.split(/(?<!\\)\|/);
  return cells.slice(1, -1).map((cell) => cell.trim());
}
