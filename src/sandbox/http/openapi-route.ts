import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Answer } from "./answer.ts";
import { wrongMethod } from "./call.ts";
import type { Call } from "./call.ts";

/** `GET /openapi.json`: the service's API as the package's own document describes it. */
export function answerOpenapi(call: Call): Answer {
  if (call.method !== "GET" && call.method !== "HEAD") return wrongMethod(call, ["GET"]);
  // By the package's own name: source and build lie at different depths.
  const path = createRequire(import.meta.url).resolve("escrow-mirror/openapi.json");
  return { status: 200, body: readFileSync(path, "utf8") };
}
