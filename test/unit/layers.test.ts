import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { describe, expect, it } from "vitest";

const source = new URL("../../src/", import.meta.url).pathname;
const map = readFileSync(join(source, "README.md"), "utf8");

/** What the files of a folder may import, as `src/README.md` says. */
function readMap(): Map<string, string[]> {
  const rows = [...map.matchAll(/^\| `(\w+)` *\|[^|]*\| ([^|]*?) *\|$/gm)];
  return new Map(
    rows.map(([, folder = "", may = ""], index) => {
      const named = [...may.matchAll(/`(\w+)`/g)].map(([, name = ""]) => name);
      const above = rows.slice(0, index).map(([, name = ""]) => name);
      return [folder, may === "all of the above" ? above : named];
    }),
  );
}

/** The folders of `src` that a file imports from. */
function importsOf(file: string): string[] {
  const text = readFileSync(join(source, file), "utf8");
  const paths = [...text.matchAll(/(?:from|import\()\s*"(\.[^"]+)"/g)].map(([, path = ""]) => path);
  return paths.map(
    (path) =>
      normalize(join(dirname(file), path))
        .split("/")[0]
        ?.replace(/\.ts$/, "") ?? "",
  );
}

const files = readdirSync(source, { recursive: true, encoding: "utf8" }).filter((file) =>
  file.endsWith(".ts"),
);
const folders = [
  ...new Set(files.filter((file) => file.includes("/")).map((file) => file.split("/")[0] ?? "")),
];

/** The files of one of the store's folders that import from another of them. */
function foreign(folder: string, others: string): string[] {
  return files
    .filter((file) => file.startsWith(`store/${folder}/`))
    .filter((file) => new RegExp(`"\\.\\./(${others})/`).test(readFileSync(join(source, file), "utf8")));
}

describe("the map in src/README.md", () => {
  it("names every folder, and no other", () => {
    expect([...readMap().keys()].sort()).toEqual(folders.sort());
  });

  it("names every room, and no other", () => {
    const named = [...map.matchAll(/^\| `(\w+\/[\w/-]+)` *\|/gm)].map(([, room = ""]) => room);
    const rooms = new Set(files.map(dirname).filter((folder) => folder.includes("/")));
    expect(named.sort()).toEqual([...rooms].sort());
  });

  it.each(folders)("lets %s import only what it says", (folder) => {
    const may = new Set([folder, ...(readMap().get(folder) ?? [])]);
    const own = files.filter((file) => file.startsWith(`${folder}/`));
    const wrong = own.flatMap((file) =>
      importsOf(file)
        .filter((imported) => !may.has(imported))
        .map((imported) => `${file} imports ${imported}`),
    );
    expect(wrong).toEqual([]);
  });
});

describe("what users import", () => {
  it("holds the testing kit in its own entries alone", () => {
    const entries = files.filter((file) => !file.includes("/"));
    expect(entries).toContain("index.ts");
    const having = entries.filter((file) => importsOf(file).includes("testing"));
    expect(having.sort()).toEqual(["testing-fast-check.ts", "testing.ts"]);
  });

  it("needs fast-check only for what testing/fast-check draws at random", () => {
    const needing = files.filter((file) =>
      /from "fast-check"/.test(readFileSync(join(source, file), "utf8")),
    );
    expect(needing.filter((file) => !file.startsWith("testing/arbitraries/"))).toEqual([]);
    const importing = files.filter((file) => /arbitraries\//.test(readFileSync(join(source, file), "utf8")));
    expect(importing).toEqual(["testing-fast-check.ts"]);
  });

  it("reaches the library from an adapter through its index alone", () => {
    const folder = new URL("../../adapters/", import.meta.url).pathname;
    const names = readdirSync(folder, { recursive: true, encoding: "utf8" });
    const imported = names
      .filter((name) => name.endsWith(".ts"))
      .flatMap((file) => [
        ...readFileSync(join(folder, file), "utf8").matchAll(/"((?:\.\.\/)+src\/[^"]+)"/g),
      ]);
    expect(new Set(imported.map(([, path = ""]) => path.replace(/^(\.\.\/)+/, "")))).toEqual(
      new Set(["src/index.ts"]),
    );
  });
});

describe("the stores", () => {
  it("differ in dialect: neither imports the other, and what both share imports neither", () => {
    expect(foreign("sqlite", "postgres")).toEqual([]);
    expect(foreign("postgres", "sqlite")).toEqual([]);
    expect(foreign("sql", "sqlite|postgres")).toEqual([]);
  });

  it.each(["queries", "handlers", "receiver", "reconcile", "healing", "retention", "testing"])(
    "are known to %s by the port alone, whatever the database",
    (folder) => {
      const own = files.filter((file) => file.startsWith(`${folder}/`));
      const past = own.filter((file) =>
        /"(\.\.\/)+store\/(sql|sqlite|postgres)\//.test(readFileSync(join(source, file), "utf8")),
      );
      expect(past).toEqual([]);
    },
  );
});

describe("a folder", () => {
  it.each(["src", "adapters", "test"])("of %s holds at most 20 files", (name) => {
    const root = new URL(`../../${name}/`, import.meta.url).pathname;
    const listed = readdirSync(root, { recursive: true, withFileTypes: true }).filter((each) =>
      each.isFile(),
    );
    const counts = new Map<string, number>();
    for (const { parentPath } of listed) counts.set(parentPath, (counts.get(parentPath) ?? 0) + 1);
    expect(counts.size).toBeGreaterThan(0);
    expect([...counts].filter(([, count]) => count > 20)).toEqual([]);
  });
});

describe("a migration", () => {
  it("imports nothing, so that later code can't change what it did", () => {
    const migrations = files.filter((file) => file.startsWith("store/sql/migrations/"));
    expect(migrations.length).toBeGreaterThan(0);
    for (const file of migrations) expect(readFileSync(join(source, file), "utf8")).not.toMatch(/^import /m);
  });
});
