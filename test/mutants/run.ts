/**
 * Plants faults in a copy of the tree, one by one, and runs the tests that must notice each. A fault that leaves its
 * tests green has survived: either a test is missing, or the code that was changed is not needed.
 */
import { spawn } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createServerOfOurs } from "../support/postgres-server.ts";
import { kitMutants } from "./kit-mutants.ts";
import { mutants as ourMutants, type Mutant } from "./mutants.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const copied = ["src", "adapters", "test", "package.json", "tsconfig.json"];
const [suite, only = ""] = process.argv.slice(2);
/**
 * `kit`: the faults that the suite of an integrator must notice, with the testing kit alone. A pattern after it picks some, by
 * file and name.
 */
const mutants = (suite === "kit" ? kitMutants : ourMutants).filter(({ file, name }) =>
  new RegExp(only).test(`${file} ${name}`),
);
const atOnce = 2;

interface Verdict {
  /** The first test that failed; `undefined` when all passed. */
  readonly killedBy: string | undefined;
  readonly seconds: number;
}

/** The part of vitest's JSON report that is read here. */
interface Report {
  readonly numTotalTests: number;
  readonly success: boolean;
  readonly testResults: readonly {
    readonly name: string;
    readonly message: string;
    readonly assertionResults: readonly {
      readonly status: string;
      readonly fullName: string;
      readonly failureMessages?: readonly string[];
    }[];
  }[];
}

await main();

async function main(): Promise<void> {
  for (const mutant of mutants) applied(mutant, readFileSync(join(root, mutant.file), "utf8"));
  // One for all runs: the tests of healing are tried on it too.
  const postgres = await createServerOfOurs();
  const trees = Array.from({ length: atOnce }, copyTree);
  process.env["DATABASE_URL"] = postgres.url;
  try {
    const everyTest = [...new Set(mutants.flatMap(({ tests }) => tests))];
    const baseline = await runTests(trees[0] as string, everyTest);
    if (baseline.killedBy !== undefined)
      throw new Error(`the tests are red without any mutant: ${baseline.killedBy}`);
    const verdicts = await tryAll(trees);
    report(verdicts);
    process.exitCode = verdicts.every(({ killedBy }) => killedBy !== undefined) ? 0 : 1;
  } finally {
    await postgres.remove();
    for (const tree of trees) rmSync(tree, { recursive: true, force: true });
  }
}

function copyTree(): string {
  const tree = mkdtempSync(join(tmpdir(), "escrow-mutants-"));
  for (const path of copied) cpSync(join(root, path), join(tree, path), { recursive: true });
  symlinkSync(join(root, "node_modules"), join(tree, "node_modules"));
  const config =
    'export default { test: { globalSetup: ["test/postgres-setup.ts"], setupFiles: ["test/setup.ts"], testTimeout: 120_000 } };\n';
  writeFileSync(join(tree, "vitest.mutants.config.mjs"), config);
  return tree;
}

/** Each tree takes the next mutant as soon as it is free. */
async function tryAll(trees: readonly string[]): Promise<Verdict[]> {
  const verdicts: Verdict[] = [];
  let next = 0;
  const work = async (tree: string): Promise<void> => {
    while (next < mutants.length) {
      const index = next++;
      verdicts[index] = await tryMutant(tree, mutants[index] as Mutant);
    }
  };
  await Promise.all(trees.map(work));
  return verdicts;
}

async function tryMutant(tree: string, mutant: Mutant): Promise<Verdict> {
  const path = join(tree, mutant.file);
  const source = readFileSync(path, "utf8");
  writeFileSync(path, applied(mutant, source));
  try {
    return await runTests(tree, mutant.tests);
  } finally {
    writeFileSync(path, source);
  }
}

/** @throws when the text to replace does not stand there exactly once: the mutant would plant nothing, or too much */
function applied({ name, file, find, replace }: Mutant, source: string): string {
  const times = source.split(find).length - 1;
  if (times !== 1) throw new Error(`mutant "${name}": its text stands ${times} times in ${file}, not once`);
  return source.replace(find, () => replace);
}

async function runTests(tree: string, tests: readonly string[]): Promise<Verdict> {
  const started = performance.now();
  const output = join(tree, "report.json");
  rmSync(output, { force: true });
  const files = tests.map(fileOf);
  const reporting = ["--reporter=json", `--outputFile=${output}`];
  const vitest = join(root, "node_modules/vitest/vitest.mjs");
  const options = ["run", "--config", "vitest.mutants.config.mjs", "--bail", "1", ...reporting, ...files];
  const errors = await runNode([vitest, ...options], tree);
  const verdict = readReport(output, errors);
  return { killedBy: verdict, seconds: (performance.now() - started) / 1000 };
}

/** `kit/core` is in `test`, `domain/fold` in `test/unit`. */
function fileOf(test: string): string {
  const unit = `test/unit/${test}.test.ts`;
  return existsSync(join(root, unit)) ? unit : `test/${test}.test.ts`;
}

/** What it wrote to stderr. */
function runNode(values: readonly string[], cwd: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, values, { cwd, stdio: ["ignore", "ignore", "pipe"] });
    let errors = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => (errors += text));
    child.once("error", reject);
    child.once("close", () => resolve(errors));
  });
}

function readReport(output: string, errors: string): string | undefined {
  let read: Report;
  try {
    read = JSON.parse(readFileSync(output, "utf8")) as Report;
  } catch (cause) {
    throw new Error(`vitest left no report: ${errors}`, { cause });
  }
  const failed = read.testResults.flatMap(({ assertionResults }) => assertionResults);
  const test = failed.find(({ status }) => status === "failed");
  if (test !== undefined) return `${test.fullName}${whyOf(test.failureMessages?.[0])}`;
  const broken = read.testResults.find(({ message }) => message !== "");
  if (broken !== undefined || !read.success)
    return `a test file that does not load: ${broken?.message ?? errors}`;
  if (read.numTotalTests === 0) throw new Error("vitest found no test");
  return undefined;
}

/** What the kit says it found: the first line that is its own. */
function whyOf(message = ""): string {
  const lines = message
    .split("\n")
    .map((line) => line.replace(/^(Got )?\w*Error( \[\w+\])?: (?=.)/, "").trim());
  const own = lines.find(
    (line) =>
      / (order|truth|record|wrong|anomaly|state|answered) ?|^fails: |^expected \[/.test(line) &&
      !line.startsWith("Property"),
  );
  return own === undefined ? "" : ` (${own.slice(0, 160)})`;
}

function report(verdicts: readonly Verdict[]): void {
  const width = Math.max(...mutants.map(({ name }) => name.length));
  for (const [index, { name }] of mutants.entries()) {
    const { killedBy, seconds } = verdicts[index] as Verdict;
    const fate = killedBy === undefined ? "SURVIVED" : `killed by: ${killedBy}`;
    console.log(`${name.padEnd(width)}  ${seconds.toFixed(1).padStart(5)} s  ${fate}`);
  }
  const killed = verdicts.filter(({ killedBy }) => killedBy !== undefined).length;
  console.log(`\n${killed} killed, ${verdicts.length - killed} survived`);
}
