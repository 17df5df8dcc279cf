import { readFileSync } from "node:fs";
import { expect, it } from "vitest";

/** The tables of docs/client.md leave nothing out. (That its blocks compile is checked with those of all pages.) */

const root = new URL("../../", import.meta.url).pathname;
const guide = readFileSync(`${root}docs/client.md`, "utf8");

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
