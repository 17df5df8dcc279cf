import { readFileSync } from "node:fs";
import ts from "typescript";
import { expect, it } from "vitest";

/** docs/client.md: what it shows compiles, and its tables leave nothing out. */

const root = new URL("../../", import.meta.url).pathname;
const guide = readFileSync(`${root}docs/client.md`, "utf8");

const blocks = [...guide.matchAll(/^```ts\n([^]*?)^```$/gm)].map(([, code = ""]) => code);

/** A block that makes no client uses the one of the first. */
const prelude = 'import type { Client } from "escrow-mirror/client";\ndeclare const client: Client;\n';

it("every block of the guide compiles", () => {
  expect(blocks.length).toBeGreaterThan(8);
  const sources = new Map(
    blocks.map((code, index) => [
      `${root}docs/client-${index}.ts`,
      `${code.includes("const client =") ? "" : prelude}${code}\nexport {};\n`,
    ]),
  );
  const options: ts.CompilerOptions = {
    noEmit: true,
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    noPropertyAccessFromIndexSignature: true,
    skipLibCheck: true,
    allowImportingTsExtensions: true,
    target: ts.ScriptTarget.ES2023,
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    types: ["node"],
    paths: { "escrow-mirror/client": [`${root}src/client.ts`] },
  };
  const disk = ts.createCompilerHost(options);
  const host: ts.CompilerHost = {
    ...disk,
    fileExists: (path) => sources.has(path) || disk.fileExists(path),
    readFile: (path) => sources.get(path) ?? disk.readFile(path),
    getSourceFile: (path, language) => {
      const text = sources.get(path);
      return text === undefined
        ? disk.getSourceFile(path, language)
        : ts.createSourceFile(path, text, language);
    },
  };
  const program = ts.createProgram([...sources.keys()], options, host);
  const faults = ts
    .getPreEmitDiagnostics(program)
    .map(
      ({ messageText, file }) => `${file?.fileName}: ${ts.flattenDiagnosticMessageText(messageText, "\n")}`,
    );
  expect(faults).toEqual([]);
}, 60_000);

const rows = new Set([...guide.matchAll(/^\| `([\w-]+)`/gm)].map(([, name = ""]) => name));

it("the guide has every code of an error", () => {
  const source = readFileSync(`${root}src/client/api-error.ts`, "utf8");
  const [, union = ""] = /type ApiErrorCode = Extract<([^]*?)>;/.exec(source) ?? [];
  const codes = [...union.matchAll(/"([a-z-]+)"/g)].map(([, code = ""]) => code);
  expect(codes.length).toBeGreaterThan(5);
  expect(codes.filter((code) => !rows.has(code))).toEqual([]);
});

it("the guide has every option", () => {
  const source = readFileSync(`${root}src/client/options.ts`, "utf8");
  const interfaces = source.match(/export interface (?:Common|Credential|Token)Options[^]*?\n\}\n/g) ?? [];
  const options = [...interfaces.join("").matchAll(/readonly (\w+)\??:/g)].map(([, name = ""]) => name);
  expect(options.length).toBeGreaterThan(10);
  expect(options.filter((name) => !rows.has(name))).toEqual([]);
});
