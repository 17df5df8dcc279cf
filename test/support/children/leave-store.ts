/** Receives enough for checkpoints to be made, and does not close: it ends by itself. */
import { createMirror } from "../../../src/mirror/create-mirror.ts";
import { sqlite } from "../../../src/store/sqlite-store.ts";
import { delivery, secret } from "../delivery.ts";

const [path = "", count = "0"] = process.argv.slice(2);
const mirror = await createMirror({ store: sqlite(path), webhook: { secrets: secret } });
for (let index = 0; index < Number(count); index++) {
  const { status } = await mirror.receive(delivery("contract.created", { id: `e-${index}`, seconds: index }));
  if (status !== 200) throw new Error(`answered ${status}`);
}
console.log("received");
