/**
 * Whether the package works for those who install it. `--quick` packs it, lints it, and tries it in one project without a
 * registry; `--no-build` takes the last build. Without `--quick` it is also installed through npm on Node 22 and 24, with each version of its peers, and in Jest.
 */
import { deepEqual, equal, match } from "node:assert/strict";
import { mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createConsumer, install, link, root, run, type Consumer } from "./consumer.ts";
import { cjsSource, esmSource, jestSource, kitPrinted, kitSource, printed, withoutPeers } from "./sources.ts";

const flags = new Set(process.argv.slice(2));
/** better-sqlite3 with what it needs, and what a type check needs, where they are linked. */
const sqlite = ["better-sqlite3", "bindings", "file-uri-to-path"];
const types = ["typescript", "@types/node", "undici-types"];

/** Node's binaries come as packages; better-sqlite3 13 and kysely 0.29 want Node 22. */
const installs = [
  { node: "22", kysely: "0.28", sqlite: "13" },
  { node: "22", kysely: "0.29", sqlite: "13" },
  { node: "24", kysely: "0.29", sqlite: "13" },
  // Compiled from source where no binary can be had.
  ...(flags.has("--compile")
    ? [
        { node: "22", kysely: "0.29", sqlite: "12" },
        { node: "24", kysely: "0.28", sqlite: "12" },
      ]
    : []),
] as const;

const scratch = mkdtempSync(join(tmpdir(), "escrow-mirror-package-"));
process.on("exit", () => rmSync(scratch, { recursive: true, force: true }));

if (!flags.has("--no-build")) await step("builds", () => run("npm", ["run", "build", "--", "--silent"]));
const tarball = await step("packs", pack);
await step("publint finds nothing", () => run("npx", ["publint", "run", tarball, "--strict"]));
await step("attw finds nothing", () => run("npx", ["attw", tarball, "--profile", "esm-only"]));
await step("loads without any optional peer, and asks for the one that is used", tryWithoutPeers);
await step("works in ESM, CommonJS and a bundler on this Node", tryLinked);
if (!flags.has("--quick")) await tryInstalled();

async function step<Result>(title: string, work: () => Promise<Result>): Promise<Result> {
  const result = await work();
  console.log(`ok  ${title}`);
  return result;
}

/** Only what users need goes into the tarball: beside the code, the pages that README links to. */
async function pack(): Promise<string> {
  await run("npm", ["pack", "--ignore-scripts", "--silent", "--pack-destination", scratch]);
  const name = readdirSync(scratch).find((each) => each.endsWith(".tgz")) ?? "";
  const tar = join(scratch, name);
  const files = (await run("tar", ["tzf", tar])).split("\n").map((each) => each.replace("package/", ""));
  const rest = files.filter((each) => !each.startsWith("dist/"));
  deepEqual(rest.sort(), [
    "CHANGELOG.md",
    "LICENSE",
    "README.md",
    ...guides(),
    "examples/express/main.ts",
    "examples/fastify-postgres/main.ts",
    "examples/fastify/main.ts",
    "examples/hono/main.ts",
    "examples/nestjs/app-module.ts",
    "examples/nestjs/logger.ts",
    "examples/nestjs/main-fastify.ts",
    "examples/nestjs/main.ts",
    "examples/order-service/main.ts",
    "examples/property-tests/orders.ts",
    "examples/property-tests/with-node-test.ts",
    "examples/sandbox-curl/walk.sh",
    "openapi.json",
    "package.json",
    "src/README.md",
    "src/sandbox/README.md",
  ]);
  return tar;
}

function guides(): string[] {
  return readdirSync(join(root, "docs"))
    .map((name) => `docs/${name}`)
    .sort();
}

function subpaths(): string[] {
  const { exports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { exports: object };
  const names = Object.keys(exports).filter((each) => !each.endsWith(".json"));
  return names.map((each) => each.replace(".", "escrow-mirror"));
}

async function tryWithoutPeers(): Promise<void> {
  const consumer = createConsumer(join(scratch, "without-peers"));
  await link(consumer, tarball, ["kysely"]);
  consumer.write("main.mjs", withoutPeers(subpaths()));
  match(await consumer.runNode("main.mjs"), /^missing-peer: .*npm install better-sqlite3/);
}

async function tryLinked(): Promise<void> {
  const consumer = createConsumer(join(scratch, "linked"));
  await link(consumer, tarball, ["kysely", "fast-check", ...sqlite, ...types, "esbuild"]);
  await checkModules(consumer);
  await checkBundle(consumer);
  await checkKit(consumer);
}

/** The testing kit, type-checked and run. */
async function checkKit(consumer: Consumer): Promise<void> {
  consumer.write("kit.mts", kitSource);
  const compiler = ["node_modules/typescript/bin/tsc", "--strict", "--types", "node"];
  await consumer.runNode(...compiler, "--target", "es2022", "--module", "nodenext", "kit.mts");
  equal(await consumer.runNode("kit.mjs"), kitPrinted);
}

/** Type-checked, our declarations too, and run: `import`, and `require` of what is ESM only. */
async function checkModules(consumer: Consumer): Promise<void> {
  consumer.write("esm.mts", esmSource);
  consumer.write("cjs.cts", cjsSource);
  const compiler = [
    "node_modules/typescript/bin/tsc",
    "--strict",
    "--exactOptionalPropertyTypes",
    "--types",
    "node",
  ];
  const target = ["--target", "es2022", "--module", "nodenext"];
  await consumer.runNode(...compiler, ...target, "esm.mts", "cjs.cts");
  equal(await consumer.runNode("esm.mjs"), printed);
  equal(await consumer.runNode("cjs.cjs"), printed);
  const bundler = ["--target", "es2022", "--module", "esnext", "--moduleResolution", "bundler", "--noEmit"];
  await consumer.runNode(...compiler, ...bundler, "esm.mts");
}

async function checkBundle(consumer: Consumer): Promise<void> {
  const options = ["--bundle", "--platform=node", "--format=esm", "--external:better-sqlite3"];
  await run("npx", ["esbuild", "esm.mts", ...options, "--outfile=bundle.mjs", "--log-level=error"], {
    cwd: consumer.folder,
  });
  equal(await consumer.runNode("bundle.mjs"), printed);
}

async function tryInstalled(): Promise<void> {
  const binaries = createConsumer(join(scratch, "nodes"));
  const platform = `node-${process.platform}-${process.arch}`;
  await install(binaries, ...["22", "24"].map((version) => `node${version}@npm:${platform}@${version}`));
  for (const { node, kysely, sqlite: version } of installs)
    await step(`works on Node ${node} with kysely ${kysely} and better-sqlite3 ${version}`, async () => {
      const binary = join(binaries.folder, "node_modules", `node${node}`, "bin", "node");
      const consumer = createConsumer(join(scratch, `${node}-${kysely}-${version}`), binary);
      const peers = [`kysely@${kysely}`, `better-sqlite3@${version}`, "typescript@5.9", "@types/node@20"];
      await install(consumer, tarball, ...peers);
      await checkModules(consumer);
    });
  await step("works in Jest", tryJest);
}

async function tryJest(): Promise<void> {
  const consumer = createConsumer(join(scratch, "jest"));
  await install(consumer, "jest@30");
  await link(consumer, tarball, ["kysely", ...sqlite]);
  consumer.write("jest.config.mjs", "export default { transform: {} };\n");
  consumer.write("mirror.test.mjs", jestSource);
  const args = ["--experimental-vm-modules", "node_modules/jest/bin/jest.js", "--testMatch", "**/*.test.mjs"];
  await consumer.runNode(...args);
}
