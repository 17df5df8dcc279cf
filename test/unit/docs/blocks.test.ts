import { expect, it } from "vitest";
import { blocksOf, faultsIn } from "./blocks.ts";
import { readPages } from "./pages.ts";

it("every ts block of README and the guides compiles", () => {
  const pages = readPages();
  expect(pages.flatMap(blocksOf).length).toBeGreaterThan(40);
  expect(faultsIn(pages)).toEqual([]);
});

it("a block with a misspelt name is found, with its page and line", () => {
  const text = [
    "# Page",
    "```ts",
    'await mirror.contracts.get("CNT-1");',
    'await mirror.contract.get("CNT-1");',
    "```",
    "",
  ].join("\n");
  expect(faultsIn([{ path: "page.md", text }])).toEqual([
    "page.md:4 Property 'contract' does not exist on type 'Mirror'. Did you mean 'contracts'?",
  ]);
});

it("a block can be imported by the path that it begins with", () => {
  const text = [
    "```ts",
    "// lib/one.ts",
    "export const one = 1;",
    "```",
    "```ts",
    "// app/two.ts",
    'import { one } from "../lib/one";',
    "const two: string = one;",
    "```",
    "",
  ].join("\n");
  expect(faultsIn([{ path: "page.md", text }])).toEqual([
    "page.md:8 Type 'number' is not assignable to type 'string'.",
  ]);
});
