/** Opens a mirror on a file, says so, and closes it. */
import { createMirror } from "../../../src/mirror/create-mirror.ts";
import { sqlite } from "../../../src/store/sqlite/store.ts";
import { secret } from "../delivery.ts";

const [path = ""] = process.argv.slice(2);
console.log("opening");
const mirror = await createMirror({
  store: sqlite({ path, busyTimeoutMs: 20_000 }),
  webhook: { secrets: secret },
});
console.log("open");
await mirror.close();
