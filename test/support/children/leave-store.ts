/** Receives until a checkpoint is made, says so, and does not close: it ends by itself. */
import { setTimeout as sleep } from "node:timers/promises";
import { createMirror } from "../../../src/mirror/create-mirror.ts";
import { sqlite } from "../../../src/store/sqlite-store.ts";
import { delivery, secret } from "../delivery.ts";
import { pagesBroughtOver } from "../wal.ts";

const [path = ""] = process.argv.slice(2);
const mirror = await createMirror({ store: sqlite(path), webhook: { secrets: secret } });
let count = 0;
for (; pagesBroughtOver(path) === 0; count++) {
  const { status } = await mirror.receive(delivery("contract.created", { id: `e-${count}`, seconds: count }));
  if (status !== 200) throw new Error(`answered ${status}`);
  await sleep(1);
}
console.log(count);
