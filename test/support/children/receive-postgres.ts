/** A receiving process on Postgres: takes the deliveries of a file in, each until it is answered 200, and prints what it was answered. */
import { readFileSync } from "node:fs";
import { createMirror } from "../../../src/mirror/create-mirror.ts";
import { postgres } from "../../../src/store/postgres/store.ts";

interface Sent {
  readonly headers: Record<string, string>;
  readonly body: string;
}

const [connectionString = "", schema = "", file = "", secret = ""] = process.argv.slice(2);
const unhandled: string[] = [];
process.on("unhandledRejection", (error) => unhandled.push(String(error)));
process.on("uncaughtException", (error) => unhandled.push(String(error)));

const mirror = await createMirror({
  store: postgres({ connectionString, schema }),
  webhook: { secrets: secret },
});
console.log("ready");
await new Promise((resolve) => process.stdin.once("data", resolve));
process.stdin.unref();

const queue = JSON.parse(readFileSync(file, "utf8")) as Sent[];
const counts: Record<string, number> = {};
const worker = async (): Promise<void> => {
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
    const { status, outcome } = await mirror.receive({ method: "POST", ...next });
    counts[`${status} ${outcome}`] = (counts[`${status} ${outcome}`] ?? 0) + 1;
    if (status !== 200) {
      queue.unshift(next);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
};
await Promise.all(Array.from({ length: 64 }, worker));
console.log(JSON.stringify({ counts, unhandled }));
await mirror.close();
