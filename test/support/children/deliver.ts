/** Delivers many events at once into a mirror on a file, again and again until each is answered 200, and prints the statuses. */
import { createMirror } from "../../../src/mirror/create-mirror.ts";
import { sqlite } from "../../../src/store/sqlite/store.ts";
import { delivery, secret } from "../delivery.ts";

const [path = "", name = "", count = "50", shared = ""] = process.argv.slice(2);
const mirror = await createMirror({
  store: sqlite({ path, busyTimeoutMs: 5000 }),
  webhook: { secrets: secret },
});
console.log("ready");
await new Promise((resolve) => process.stdin.once("data", resolve));
process.stdin.unref();
const answers = await Promise.all(
  Array.from({ length: Number(count) }, (_, index) => {
    const id = shared === "" ? `${name}-${index}` : shared;
    return mirror.receive(
      delivery("contract.created", { id, seconds: 0, contractId: `CNT-${id}` }, { webhookId: id }),
    );
  }),
);
console.log(JSON.stringify(answers.map(({ status, outcome }) => `${status} ${outcome}`)));
await mirror.close();
