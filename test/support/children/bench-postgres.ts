/** Receives so many deliveries on Postgres when told to go, 64 in flight, and says when it is done. */
import { createMirror } from "../../../src/mirror/create-mirror.ts";
import { postgres } from "../../../src/store/postgres/store.ts";
import { makeDeliveries, receiveAll, secret } from "../../bench/deliveries.ts";

const [connectionString = "", schema = "", count = "0", first = "0"] = process.argv.slice(2);
const mirror = await createMirror({
  store: postgres({ connectionString, schema }),
  webhook: { secrets: secret },
});
const deliveries = [...makeDeliveries(Number(count), Number(first))];
console.log("ready");
await new Promise((resolve) => process.stdin.once("data", resolve));
process.stdin.unref();
await receiveAll(mirror, deliveries);
console.log("done");
await mirror.close();
