import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { describe, expect, it } from "vitest";

const sandbox = new URL("../../src/sandbox/", import.meta.url).pathname;
const filesMax = 20;

/** What the files of a room may import, as the sandbox's README says. */
const rooms = new Map(
  [
    ...readFileSync(join(sandbox, "README.md"), "utf8").matchAll(/^\| `(\w+)` *\|[^|]*\| ([^|]*?) *\|$/gm),
  ].map(
    ([, room = "", may = ""]) => [room, [...may.matchAll(/`(\w+)`/g)].map(([, name = ""]) => name)] as const,
  ),
);
const files = readdirSync(sandbox, { recursive: true, encoding: "utf8" }).filter((file) =>
  file.endsWith(".ts"),
);
const roomOf = (file: string): string => (file.includes("/") ? (file.split("/")[0] ?? "") : "");

/** The sandbox's own files that a file imports. */
function importsOf(file: string): string[] {
  const text = readFileSync(join(sandbox, file), "utf8");
  return [...text.matchAll(/from "(\.[^"]+)"/g)]
    .map(([, path = ""]) => join(dirname(file), path))
    .filter((path) => !path.startsWith(".."));
}

describe("the rooms of the sandbox", () => {
  it("are those of the README's table", () => {
    const folders = new Set(files.map(roomOf).filter((room) => room !== ""));
    expect([...rooms.keys()].sort()).toEqual([...folders].sort());
  });

  it("stand in an order in which imports run one way", () => {
    const order = [...rooms.keys()];
    const upwards = order.flatMap((room, index) =>
      (rooms.get(room) ?? []).filter((other) => order.indexOf(other) >= index).map((other) => [room, other]),
    );
    expect(upwards).toEqual([]);
  });

  it.each([...rooms])("%s imports only %j", (room, may) => {
    const allowed = new Set([room, ...may]);
    const wrong = files
      .filter((file) => roomOf(file) === room)
      .flatMap((file) => importsOf(file).map((target) => [file, target] as const))
      .filter(([, target]) => !allowed.has(roomOf(target)));
    expect(wrong).toEqual([]);
  });

  it("need no file that puts them together", () => {
    const wanted = files.filter((file) => roomOf(file) !== "").flatMap(importsOf);
    expect(wanted.filter((target) => roomOf(target) === "")).toEqual([]);
  });

  it(`hold at most ${filesMax} files each`, () => {
    const full = [...rooms.keys(), ""].filter(
      (room) => files.filter((file) => roomOf(file) === room).length > filesMax,
    );
    expect(full).toEqual([]);
  });
});
