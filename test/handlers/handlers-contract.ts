/** What handlers do on every store. */
import type { Store } from "../../src/store/store.ts";
import { describeAnew } from "./anew-contract.ts";
import { describeMishaps } from "./mishaps-contract.ts";
import { describeNews } from "./news-contract.ts";
import { describeRefused } from "./refused-contract.ts";
import { describeRegistering } from "./registering-contract.ts";
import { describeRuns } from "./runs-contract.ts";
import { describeWaitFor } from "./wait-for-contract.ts";

export function describeHandlers(name: string, create: () => Store): void {
  describeRuns(name, create);
  describeMishaps(name, create);
  describeNews(name, create);
  describeRegistering(name, create);
  describeAnew(name, create);
  describeRefused(name, create);
  describeWaitFor(name, create);
}
