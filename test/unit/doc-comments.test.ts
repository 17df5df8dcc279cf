import { readdirSync, readFileSync } from "node:fs";
import ts from "typescript";
import { describe, expect, it } from "vitest";

/** The package as an editor shows it: each public name and each of its members says what it is. */
const root = new URL("../../", import.meta.url).pathname;

interface Package {
  readonly exports: Readonly<Record<string, string | { readonly default: string }>>;
  readonly tsup: { readonly entry: Readonly<Record<string, string>> };
}

/** The source of each entry point, by the name that it is imported by. */
const entries = entryPoints(JSON.parse(readFileSync(`${root}package.json`, "utf8")) as Package);

function entryPoints({ exports, tsup }: Package): Map<string, string> {
  const built = Object.entries(exports).flatMap(([name, target]): [string, string][] =>
    typeof target === "string" ? [] : [[name, target.default.replace(/^\.\/dist\/(.*)\.js$/, "$1")]],
  );
  return new Map(built.map(([name, output]) => [name, `${root}${tsup.entry[output] ?? "nothing is built"}`]));
}

const program = ts.createProgram([...entries.values()], {
  module: ts.ModuleKind.NodeNext,
  moduleResolution: ts.ModuleResolutionKind.NodeNext,
  allowImportingTsExtensions: true,
  noEmit: true,
  strict: true,
  types: ["node"],
});
const checker = program.getTypeChecker();

interface PublicName {
  readonly name: string;
  readonly comment: string;
  /** Everything that the package's types show of it. */
  readonly text: string;
}

/** The names that one entry exports, the types of this project that they lead to, and the members of all of these. */
function publicNames(entry: string): PublicName[] {
  const file = program.getSourceFile(entry);
  const module = file && checker.getSymbolAtLocation(file);
  if (module === undefined) throw new Error(`${entry} has no exports.`);
  const found: PublicName[] = [];
  const seen = new Set<ts.Symbol>();
  const visit = (symbol: ts.Symbol, name = symbol.name): void => {
    if (seen.has(symbol)) return;
    seen.add(symbol);
    const declarations = (symbol.declarations ?? []).filter(isOurs);
    if (declarations.length === 0) return;
    found.push({ name, comment: commentOf(symbol), text: declarations.map(shownOf).join("\n") });
    for (const declaration of declarations) {
      for (const [member, of] of membersOf(name, declaration))
        found.push({ name: member, comment: commentOf(of), text: "" });
      for (const used of typesIn(declaration)) visit(used);
    }
  };
  for (const exported of checker.getExportsOfModule(module)) visit(resolved(exported), exported.name);
  return found;
}

function isOurs(declaration: ts.Declaration): boolean {
  const { fileName } = declaration.getSourceFile();
  return fileName.startsWith(root) && !fileName.includes("/node_modules/");
}

function resolved(symbol: ts.Symbol): ts.Symbol {
  return symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
}

/**
 * A type is shown whole, with the comments in it; of code only its own comment and its types are. The comment at the head of
 * a file may be shown with the first of them.
 */
function shownOf(declaration: ts.Declaration): string {
  const [head = ""] = /^\/\*\*[^]*?\*\//.exec(declaration.getSourceFile().text) ?? [];
  return `${head}\n${ownTextOf(declaration)}`;
}

function ownTextOf(declaration: ts.Declaration): string {
  if (ts.isInterfaceDeclaration(declaration) || ts.isTypeAliasDeclaration(declaration))
    return declaration.getFullText();
  return ts
    .getJSDocCommentsAndTags(declaration)
    .map((each) => each.getText())
    .join("\n");
}

/** The types of this project that the declaration names. The code of a function is nobody's business. */
function typesIn(declaration: ts.Declaration): ts.Symbol[] {
  const used: ts.Symbol[] = [];
  const look = (node: ts.Node): void => {
    if (ts.isBlock(node) || isHidden(node)) return;
    const name = namedBy(node);
    const symbol = name && checker.getSymbolAtLocation(name);
    if (symbol !== undefined && !(symbol.flags & ts.SymbolFlags.TypeParameter)) used.push(resolved(symbol));
    ts.forEachChild(node, look);
  };
  ts.forEachChild(declaration, look);
  return used;
}

function namedBy(node: ts.Node): ts.Node | undefined {
  if (ts.isTypeReferenceNode(node)) return node.typeName;
  if (ts.isTypeQueryNode(node)) return node.exprName;
  return ts.isExpressionWithTypeArguments(node) ? node.expression : undefined;
}

function isHidden(node: ts.Node): boolean {
  if (!ts.isClassElement(node)) return false;
  const isPrivate = ts.getCombinedModifierFlags(node) & ts.ModifierFlags.Private;
  return Boolean(isPrivate) || (node.name !== undefined && ts.isPrivateIdentifier(node.name));
}

/** The members of a type, and of the types that are spelled out inside it, such as `Sandbox.deliveries`. */
function membersOf(owner: string, node: ts.Node): [string, ts.Symbol][] {
  const found: [string, ts.Symbol][] = [];
  // The comments of a constant that has a type are those of the type.
  if (ts.isVariableDeclaration(node) && node.type !== undefined) return found;
  // Alternatives have no names: the comment of the whole says how they differ.
  if (ts.isUnionTypeNode(node) && node.types.filter(isSpelledOut).length > 1) return found;
  ts.forEachChild(node, (child) => {
    if (ts.isBlock(child) || ts.isArrowFunction(child) || isHidden(child) || ts.isParameter(child)) return;
    const isMember = ts.isTypeElement(child) || ts.isClassElement(child) || ts.isPropertyAssignment(child);
    const symbol = isMember && child.name !== undefined ? checker.getSymbolAtLocation(child.name) : undefined;
    const path = symbol === undefined ? owner : `${owner}.${symbol.name}`;
    if (symbol !== undefined) found.push([path, symbol]);
    found.push(...membersOf(path, child));
  });
  return found;
}

function isSpelledOut(type: ts.TypeNode): boolean {
  return ts.isTypeLiteralNode(ts.isArrayTypeNode(type) ? type.elementType : type);
}

function commentOf(symbol: ts.Symbol): string {
  const tags = symbol.getJsDocTags(checker).map(({ text }) => ts.displayPartsToString(text));
  return [ts.displayPartsToString(symbol.getDocumentationComment(checker)), ...tags].join("\n").trim();
}

const names = new Map([...entries].map(([name, file]) => [name, publicNames(file)]));
const of = (entry: string): PublicName[] => names.get(entry) ?? [];
const wrong = (entry: string, isWrong: (each: PublicName) => boolean): string[] =>
  of(entry)
    .filter(isWrong)
    .map(({ name }) => name);

describe("the public names", () => {
  it("are many, so that this test looks at something", () => {
    expect([...names.keys()]).toContain("./postgres");
    expect(of(".").length).toBeGreaterThan(400);
    expect(of("./sandbox").length).toBeGreaterThan(150);
    expect(of("./sandbox").map(({ name }) => name)).toContain("Sandbox.deliveries.idle");
  });
});

describe.each([...entries.keys()])("the public names of %s", (entry) => {
  it("each have a doc comment, with their members", () => {
    expect(wrong(entry, ({ comment }) => comment === "")).toEqual([]);
  });

  it("say what a thing is", () => {
    expect(wrong(entry, ({ comment }) => /^What\b/.test(comment))).toEqual([]);
  });

  it("cite nothing that users don't have", () => {
    const cites = /§|\b(semantics|supplement)\b|`[\w/-]+\.ts`/i;
    expect(wrong(entry, ({ comment, text }) => cites.test(comment) || cites.test(text))).toEqual([]);
  });
});

describe("the comments of the source", () => {
  const files = ["src", "adapters"].flatMap((folder) =>
    readdirSync(`${root}${folder}`, { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".ts"))
      .map((name) => `${folder}/${name}`),
  );

  it("say what a thing is: none begins with this word", () => {
    expect(files.length).toBeGreaterThan(100);
    const begins = /^\s*(\/\*\*|\/\/)\s+What\b|^\s*\/\*\*\n\s*\* What\b/m;
    expect(files.filter((file) => begins.test(readFileSync(root + file, "utf8")))).toEqual([]);
  });
});
