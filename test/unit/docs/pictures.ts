/** The pictures in the guides: what stands between two marks of a page is drawn from the machines. */
import { contractMachine } from "../../../src/domain/contract.ts";
import { milestoneMachine } from "../../../src/domain/milestone.ts";
import { toMermaid } from "../../../src/testing/mermaid.ts";

/** The page that has them, from the package's root. */
export const picturePage = "docs/lifecycle.md";

const pictures: Readonly<Record<string, string>> = {
  contract: toMermaid(contractMachine),
  milestone: toMermaid(milestoneMachine),
};

/** The page with its pictures as they are now. @throws Error for a mark that names no picture */
export function withPictures(page: string): string {
  return page.replaceAll(
    /(<!-- picture: (\w+) -->\n)[^]*?(<!-- \/picture -->)/g,
    (_, open: string, name: string, close: string) => {
      const picture = pictures[name];
      if (picture === undefined) throw new Error(`there is no picture ${name}`);
      return `${open}\n\`\`\`mermaid\n${picture}\`\`\`\n\n${close}`;
    },
  );
}
