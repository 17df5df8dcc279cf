import type { StoreTransaction } from "../store/store.ts";
import type { Subscription } from "./subscription.ts";

/**
 * Reads the subscriptions. None is added or removed before the transaction ends. Call it before rows of jobs are locked:
 * whoever registers or removes a handler locks in this order, and a deadlock costs a second try.
 */
export async function holdSubscriptions(tx: StoreTransaction): Promise<Subscription[]> {
  const locked = tx.jobs.lockSubscriptions("shared");
  const rows = await tx.find("subscriptions", { orderBy: ["name"] });
  await locked;
  return rows as Subscription[];
}
