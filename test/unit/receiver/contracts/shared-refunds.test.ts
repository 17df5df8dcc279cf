import { storeKinds } from "../../../support/mirror.ts";
import { describeSharedRefunds } from "../../../support/shared-refunds.ts";

for (const [name, openStore] of storeKinds) describeSharedRefunds(name, openStore);
