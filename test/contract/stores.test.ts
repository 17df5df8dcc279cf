import { storeKinds } from "../support/mirror.ts";
import { describeStore } from "./store-contract.ts";

for (const [name, create] of storeKinds) describeStore({ name, create });
