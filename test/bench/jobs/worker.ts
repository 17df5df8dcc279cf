/** A process that runs handlers, for what is measured across processes. It says when its handler runs, and what it has used. */
import process from "node:process";
import { postgres } from "../../../src/postgres.ts";
import { sqlite } from "../../../src/sqlite.ts";
import { openMirror } from "./mirrors.ts";

const [, , place = "", how = ""] = process.argv;
const store = place.startsWith("postgres:")
  ? postgres({ connectionString: place, schema: "waking", listen: how === "listen" })
  : sqlite(place);
const mirror = await openMirror(store);
mirror.on("*", ({ webhookId }) => void process.send?.({ webhookId, at: nowMs() }), { name: "wakes" });
await mirror.idle();

const wholeMs = (): number => process.cpuUsage().user / 1000 + process.cpuUsage().system / 1000;

process.on("message", () => void process.send?.({ usedMs: wholeMs(), at: nowMs() }));
process.on("disconnect", () => void mirror.close().finally(() => process.exit()));
process.send?.("ready");

function nowMs(): number {
  return performance.timeOrigin + performance.now();
}
