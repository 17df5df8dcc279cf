/** The pages that users read. */
import { readdirSync, readFileSync } from "node:fs";

export const root = new URL("../../../", import.meta.url).pathname;

export interface DocPage {
  /** From the package's root. */
  readonly path: string;
  readonly text: string;
}

export function readPages(): DocPage[] {
  const guides = readdirSync(`${root}docs`).filter((name) => name.endsWith(".md"));
  const paths = ["README.md", "CHANGELOG.md", "src/README.md", "src/sandbox/README.md"];
  return [...paths, ...guides.map((name) => `docs/${name}`)].map((path) => ({ path, text: readText(path) }));
}

export function readText(path: string): string {
  return readFileSync(`${root}${path}`, "utf8");
}
