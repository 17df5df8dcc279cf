/** Opens a mirror on Postgres, says when it begins and when it is open, and ends. */
import { createMirror } from "../../../src/mirror/create-mirror.ts";
import { postgres } from "../../../src/store/postgres/store.ts";

const [connectionString = "", schema = ""] = process.argv.slice(2);
console.log("opening");
const mirror = await createMirror({
  store: postgres({ connectionString, schema }),
  webhook: { secrets: "whsec_open_postgres_0123456789" },
});
console.log("open");
await mirror.close();
