import ts from "typescript";
import { describe, expect, it } from "vitest";

/** `escrow-mirror/sandbox` as an editor shows it: each name and each member says what it is. */
const entry = new URL("../../src/sandbox.ts", import.meta.url).pathname;
const program = ts.createProgram([entry], {
  module: ts.ModuleKind.NodeNext,
  moduleResolution: ts.ModuleResolutionKind.NodeNext,
  allowImportingTsExtensions: true,
  noEmit: true,
  strict: true,
  types: ["node"],
});
const checker = program.getTypeChecker();

/** The exported names, and the members of each that are declared in this project. */
function publicNames(): [name: string, symbol: ts.Symbol][] {
  const file = program.getSourceFile(entry);
  const module = file && checker.getSymbolAtLocation(file);
  if (module === undefined) throw new Error(`${entry} has no exports.`);
  return checker.getExportsOfModule(module).flatMap((exported) => {
    const symbol = exported.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(exported) : exported;
    return [[exported.name, symbol], ...membersOf(exported.name, symbol)] as [string, ts.Symbol][];
  });
}

function membersOf(name: string, symbol: ts.Symbol): [string, ts.Symbol][] {
  const declared = symbol.declarations ?? [];
  return declared.flatMap((declaration) => {
    if (!ts.isInterfaceDeclaration(declaration) && !ts.isClassDeclaration(declaration)) return [];
    return nested(name, declaration.members);
  });
}

/** Objects that are spelled out in place, such as `Sandbox.deliveries`, have members of their own. */
function nested(owner: string, members: Iterable<ts.ClassElement | ts.TypeElement>): [string, ts.Symbol][] {
  return [...members].flatMap((member) => {
    const symbol = member.name && checker.getSymbolAtLocation(member.name);
    if (symbol === undefined) return [];
    const path = `${owner}.${symbol.name}`;
    const type = ts.isPropertySignature(member) ? member.type : undefined;
    const inner = type !== undefined && ts.isTypeLiteralNode(type) ? nested(path, type.members) : [];
    return [[path, symbol] as [string, ts.Symbol], ...inner];
  });
}

const commentOf = (symbol: ts.Symbol): string =>
  ts.displayPartsToString(symbol.getDocumentationComment(checker));

const names = publicNames();

describe("the public names of the sandbox", () => {
  it("are many, so that this test looks at something", () => {
    expect(names.length).toBeGreaterThan(150);
    expect(names.map(([name]) => name)).toContain("Sandbox.deliveries.idle");
  });

  it("each have a doc comment, with their members", () => {
    expect(names.filter(([, symbol]) => commentOf(symbol).trim() === "").map(([name]) => name)).toEqual([]);
  });

  it("say what a thing is, and cite nothing that users don't have", () => {
    const bad = names.filter(([, symbol]) => /^What |§|\bsemantics\b|supplement/.test(commentOf(symbol)));
    expect(bad.map(([name]) => name)).toEqual([]);
  });
});
