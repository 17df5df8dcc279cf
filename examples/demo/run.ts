import { runDemo } from "./main.ts";

await runDemo((line) => console.log(line));
