/** A mirror in a process of its own: imports what it is told, waits for a line, reconciles, and says what that took. */
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { createClient } from "../../src/client.ts";
import { createMirror } from "../../src/mirror/create-mirror.ts";
import { openDatabase } from "../simulation/database.ts";
import { startMeasuring } from "./measure.ts";

const { place, api, idsFile } = JSON.parse(process.argv[2] ?? "") as {
  readonly place: string;
  readonly api: Parameters<typeof createClient>[0];
  readonly idsFile: string;
};
const fast = { concurrency: 16, perSecondMax: 10_000 };
const lines = createInterface(process.stdin)[Symbol.asyncIterator]();
const say = (what: object): boolean => process.stdout.write(`${JSON.stringify(what)}\n`);

const mirror = await createMirror({
  store: openDatabase(place),
  client: createClient(api),
  jobs: { run: false },
});
say(await mirror.contracts.import(readFileSync(idsFile, "utf8").split("\n"), fast));
await lines.next();
const measuring = startMeasuring();
const { checked, healed, failed } = await mirror.reconcile({
  ...fast,
  onProgress: (progress) => {
    if (progress.checked % 500 === 0) measuring.look();
  },
});
say({ checked, healed, failed, ...measuring.end() });
await mirror.close();
process.exit();
