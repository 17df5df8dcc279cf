import { expect, it } from "vitest";
import { anchorsOf, deadLinks, linksOf } from "./links.ts";
import { readPages } from "./pages.ts";

it("every relative link and anchor of the pages leads somewhere", () => {
  const pages = readPages();
  expect(pages.flatMap(({ text }) => linksOf(text)).length).toBeGreaterThan(40);
  expect(pages.flatMap(deadLinks)).toEqual([]);
});

it("a link to a file or a heading that does not exist is found", () => {
  const text =
    "# Top\n[a](#top) [b](#bottom) [c](nowhere.md) [d](README.md#nothing) [e](README.md) `[f](code.md)`\n";
  expect(deadLinks({ path: "page.md", text })).toEqual([
    "page.md: #bottom",
    "page.md: nowhere.md",
    "page.md: README.md#nothing",
  ]);
});

it("anchors are those that GitHub makes", () => {
  const text =
    "# `createMirror({ … })`\n## You were down: what happens?\n## Again\n```sh\n# no heading\n```\n## Again\n";
  expect(anchorsOf(text)).toEqual(["createmirror--", "you-were-down-what-happens", "again", "again-1"]);
});

it("README has fewer than 200 lines", () => {
  const [readme] = readPages();
  expect(readme?.text.split("\n").length).toBeLessThan(200);
});

it("no page cites a document that its readers don't have", () => {
  const citing = readPages().filter(
    ({ path, text }) => path !== "src/README.md" && /§|semantics/i.test(text),
  );
  expect(citing.map(({ path }) => path)).toEqual([]);
});
