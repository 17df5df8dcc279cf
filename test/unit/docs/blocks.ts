/** Type-checks the `ts` blocks of pages against the source. */
import ts from "typescript";
import manifest from "../../../package.json" with { type: "json" };
import { root, type DocPage } from "./pages.ts";

/**
 * What a block may use without saying where it comes from. A block that declares a name of its own uses that one. A block that
 * begins with a comment that is a file's path, such as `// lib/mirror.ts`, can be imported by that path.
 */
const prelude = `
import type { Mirror } from "escrow-mirror";
import type { Client } from "escrow-mirror/client";
declare global {
  const mirror: Mirror;
  const client: Client;
  const contractId: string;
  const webhookUrl: string;
  const webhookSecret: string;
  const AppModule: new () => object;
  const MIRROR: symbol;
  const mail: { send(mail: { to: string; idempotencyKey: string }): Promise<void> };
  const warehouse: { ship(parcel: { order: string | null; idempotencyKey: string }): Promise<void> };
  function emailOfOrder(reference: string | null): Promise<string | undefined>;
}
`;

const options: ts.CompilerOptions = {
  noEmit: true,
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  skipLibCheck: true,
  allowImportingTsExtensions: true,
  resolveJsonModule: true,
  experimentalDecorators: true,
  target: ts.ScriptTarget.ES2023,
  lib: ["lib.es2023.d.ts", "lib.esnext.disposable.d.ts"],
  module: ts.ModuleKind.ESNext,
  moduleResolution: ts.ModuleResolutionKind.Bundler,
  types: ["node"],
  paths: entryPaths(),
};

/** A fault as a person looks it up: page, line, message. */
export function faultsIn(pages: readonly DocPage[]): string[] {
  const sources = new Map(pages.flatMap(sourcesOf));
  sources.set(`${root}docs/.blocks/prelude.ts`, prelude);
  const program = ts.createProgram([...sources.keys()], options, hostWith(sources));
  return [...sources.keys()].flatMap((path) =>
    ts.getPreEmitDiagnostics(program, program.getSourceFile(path)).map(describe),
  );
}

export function blocksOf({ text }: DocPage): { code: string; line: number }[] {
  return [...text.matchAll(/^ *```ts\n([^]*?)^ *```$/gm)].map(({ index, 1: code = "" }) => ({
    code,
    line: text.slice(0, index).split("\n").length,
  }));
}

/** Each block stands on the lines that it has in its page, so that a fault's line is the page's. */
function sourcesOf(page: DocPage): [string, string][] {
  const folder = `${root}docs/.blocks/${page.path}`;
  return blocksOf(page).map(({ code, line }) => {
    const name = /^\/\/ (\S+\.ts)$/m.exec(code.split("\n", 1)[0] ?? "")?.[1] ?? `block-${line}.ts`;
    return [`${folder}/${name}`, `${"\n".repeat(line)}${code}\nexport {};\n`];
  });
}

/** The package's subpaths, each as the file that it is built from. */
function entryPaths(): Record<string, string[]> {
  const entries: Readonly<Record<string, string>> = manifest.tsup.entry;
  return Object.fromEntries(
    Object.entries(manifest.exports).flatMap(([subpath, target]) => {
      if (typeof target === "string") return [];
      const file = entries[target.types.slice("./dist/".length, -".d.ts".length)];
      return [[subpath.replace(".", "escrow-mirror"), [`${root}${file}`]]];
    }),
  );
}

function hostWith(sources: ReadonlyMap<string, string>): ts.CompilerHost {
  const folders = new Set([...sources.keys()].map((path) => path.slice(0, path.lastIndexOf("/"))));
  return {
    ...disk,
    fileExists: (path) => sources.has(path) || disk.fileExists(path),
    directoryExists: (path) => folders.has(path) || (disk.directoryExists?.(path) ?? true),
    readFile: (path) => sources.get(path) ?? disk.readFile(path),
    getSourceFile: (path, language) => {
      const text = sources.get(path);
      return text === undefined ? parsed(path, language) : ts.createSourceFile(path, text, language);
    },
  };
}

const disk = ts.createCompilerHost(options);
const files = new Map<string, ts.SourceFile | undefined>();

/** Files of the disk are parsed once for all programs. */
function parsed(
  path: string,
  language: ts.ScriptTarget | ts.CreateSourceFileOptions,
): ts.SourceFile | undefined {
  if (!files.has(path)) files.set(path, disk.getSourceFile(path, language));
  return files.get(path);
}

function describe({ file, start, messageText }: ts.Diagnostic): string {
  const message = ts.flattenDiagnosticMessageText(messageText, "\n");
  if (file === undefined) return message;
  const page = file.fileName.replace(`${root}docs/.blocks/`, "").replace(/(\.md)\/.*/, "$1");
  return `${page}:${file.getLineAndCharacterOfPosition(start ?? 0).line + 1} ${message}`;
}
