/** `npm run openapi` writes openapi.json; with `-- --check` it only says whether the file is as it would be written. */
import { readFileSync, writeFileSync } from "node:fs";
import { buildDocument } from "./document.ts";

const path = new URL("../../../openapi.json", import.meta.url);
const text = `${JSON.stringify(buildDocument(), null, 2)}\n`;

if (!process.argv.includes("--check")) writeFileSync(path, text);
else if (readFileSync(path, "utf8") !== text) {
  console.error("openapi.json is not what the schemas say. Run: npm run openapi");
  process.exitCode = 1;
}
