/**
 * Says what a store and a sandbox on SQLite make of a better-sqlite3 that is not there, not built for this Node, or made for
 * another one: that one would end the process where it is loaded.
 */
import Module from "node:module";
import { sqlite } from "../../../src/sqlite.ts";
import { createSandbox } from "../../../src/sandbox.ts";
import { silentLogger } from "../../../src/shared/logger.ts";
import { systemClock } from "../../../src/shared/clock.ts";

const [how = "", folder = ""] = process.argv.slice(2);
type Load = (request: string, ...rest: unknown[]) => unknown;
const loader = Module as unknown as Record<"_load", Load> & Record<"_extensions", Record<string, Load>>;
const load = loader["_load"];
const manifests: Readonly<Record<string, object>> = {
  newer: { version: "99.1.0", engines: { node: ">=99" } },
  older: { version: "11.10.0" },
};
if (how === "unbuilt")
  loader["_extensions"][".node"] = () => {
    throw new Error("was compiled against a different Node.js version using NODE_MODULE_VERSION 1");
  };
else
  loader["_load"] = (request, ...rest) => {
    if (request === "better-sqlite3/package.json") return manifests[how];
    // What a version for another Node does.
    if (request.includes("better-sqlite3")) process.abort();
    return load(request, ...rest);
  };

await tell("store", () =>
  sqlite(`${folder}/store.db`).open({ migrate: "auto", logger: silentLogger, clock: systemClock }),
);
await tell("sandbox", () => createSandbox({ port: 0, data: `${folder}/sandbox.db` }));

async function tell(what: string, open: () => Promise<unknown>): Promise<void> {
  const error = await open().catch((cause: unknown) => cause);
  const { code, message } = error as { code?: unknown; message?: unknown };
  console.log(JSON.stringify({ what, code, message }));
}
