/** Links of pages, and whether they lead somewhere. */
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { readText, root, type DocPage } from "./pages.ts";

/** Each relative link of the page that leads nowhere. */
export function deadLinks(page: DocPage): string[] {
  return linksOf(page.text)
    .filter((link) => !/^[a-z]+:/.test(link) && !leadsSomewhere(page, link))
    .map((link) => `${page.path}: ${link}`);
}

export function linksOf(text: string): string[] {
  return [...withoutCode(text).matchAll(/\]\(<?([^)>\s]+)>?\)/g)].map(([, link = ""]) => link);
}

function leadsSomewhere(page: DocPage, link: string): boolean {
  const [path = "", anchor] = link.split("#");
  const target = join(dirname(page.path), path);
  if (path !== "" && !existsSync(root + target)) return false;
  if (anchor === undefined) return true;
  return anchorsOf(path === "" ? page.text : readText(target)).includes(anchor);
}

/** The anchors of a page's headings, as GitHub makes them. */
export function anchorsOf(text: string): string[] {
  const seen = new Map<string, number>();
  return [...withoutBlocks(text).matchAll(/^#+ (.*)$/gm)].map(([, heading = ""]) => {
    const slug = slugOf(heading);
    const count = seen.get(slug) ?? 0;
    seen.set(slug, count + 1);
    return count === 0 ? slug : `${slug}-${count}`;
  });
}

function slugOf(heading: string): string {
  const words = heading
    .replaceAll(/\]\([^)]*\)/g, "]")
    .trim()
    .toLowerCase();
  return words.replaceAll(/[^\p{L}\p{N}\p{M}_\- ]/gu, "").replaceAll(" ", "-");
}

function withoutBlocks(text: string): string {
  return text.replaceAll(/^```[^]*?^```$/gm, "");
}

function withoutCode(text: string): string {
  return withoutBlocks(text).replaceAll(/`[^`\n]*`/g, "code");
}
