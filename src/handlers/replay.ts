/** A replay: the handlers of one stored delivery are owed it once more. */
import { randomUUID } from "node:crypto";
import { checkText } from "../queries/arguments.ts";
import { EscrowMirrorError } from "../shared/errors.ts";
import { holdPayloads } from "../store/payload.ts";
import type { Store, StoreTransaction } from "../store/store.ts";
import { holdSubscriptions } from "./hold-subscriptions.ts";
import { eventJob, hears, type AppliedDelivery } from "./subscription.ts";

/**
 * Adds a job for each handler that listens to the delivery's event. Resolves with their number.
 *
 * @throws EscrowMirrorError `invalid-argument`; `not-found` unless the delivery is applied
 */
export async function addReplay(store: Store, id: string): Promise<number> {
  checkText(id);
  const added = await store.transaction(async (tx) => {
    const subscriptions = await holdSubscriptions(tx);
    const delivery = await loadApplied(tx, id);
    await holdPayloads(tx, [delivery.contentKey]);
    const hearing = subscriptions.filter(({ filter }) => "events" in filter && hears(filter, delivery));
    const again = ` again ${randomUUID()}`;
    return tx.jobs.insert(hearing.map(({ name }) => eventJob(name, delivery, again)));
  });
  return added.length;
}

async function loadApplied(tx: StoreTransaction, id: string): Promise<AppliedDelivery> {
  const [row] = await tx.find("deliveries", { where: [{ field: "id", op: "=", value: id }] });
  if (row === undefined || row.outcome !== "applied" || row.event === null) throw notApplied(id);
  const { contentKey, webhookId, contractId, event } = row;
  return { contentKey, webhookId, contractId, event };
}

function notApplied(id: string): EscrowMirrorError {
  return new EscrowMirrorError(
    "not-found",
    `no applied delivery has the id ${id}: pass the id, not the webhookId, of an item of mirror.deliveries.list()`,
  );
}
