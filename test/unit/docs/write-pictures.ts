/** `npm run pictures` draws the machines into the guides; with `-- --check` it only says whether they are as drawn. */
import { readFileSync, writeFileSync } from "node:fs";
import { picturePage, withPictures } from "./pictures.ts";

const path = new URL(`../../../${picturePage}`, import.meta.url);
const page = readFileSync(path, "utf8");
const drawn = withPictures(page);

if (!process.argv.includes("--check")) writeFileSync(path, drawn);
else if (page !== drawn) {
  console.error(`The pictures in ${picturePage} are not what the machines say. Run: npm run pictures`);
  process.exitCode = 1;
}
