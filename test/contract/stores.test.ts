import { storeKinds } from "../support/mirror.ts";
import { describeQueue } from "./queue-contract.ts";
import { describeStore } from "./store-contract.ts";

for (const [name, create] of storeKinds) {
  describeStore({ name, create });
  describeQueue({ name, create });
}
