import { countQuarantined } from "../queries/counts.ts";
import type { Receiver } from "../receiver/receive.ts";
import { proveInserting } from "../store/prove-writing.ts";
import type { Store, StoreTransaction } from "../store/store.ts";
import { heavyFields } from "../store/tables.ts";

export interface Health {
  /** `false` while the store can't be used, the intake refuses, or five verified deliveries in a row were not answered 2xx. */
  readonly ok: boolean;
  /** Verified deliveries in a row that this process did not answer 2xx. Ten disable the subscription (§6.5). */
  readonly consecutiveFailures: number;
  /** When the newest delivery came that was none's copy. ISO 8601. */
  readonly lastDeliveryAt: string | null;
  /** How many deliveries are set aside, 10,000 where they are more: see `mirror.quarantine.list()`. */
  readonly quarantined: number;
}

const failuresAlarm = 5;

export function createHealth(store: Store, receiver: Receiver): () => Promise<Health> {
  return async () => {
    const consecutiveFailures = receiver.consecutiveFailures();
    try {
      const found = await store.transaction(inspect);
      return { ok: consecutiveFailures < failuresAlarm && !receiver.isFull(), consecutiveFailures, ...found };
    } catch {
      const unknown = { lastDeliveryAt: null, quarantined: 0 };
      return { ok: false, consecutiveFailures, ...unknown };
    }
  };
}

/** In a transaction, not a read: what can't be written is not healthy. */
async function inspect(tx: StoreTransaction) {
  await proveInserting(tx);
  const [newest] = await tx.find("deliveries", {
    orderBy: ["seq"],
    descending: true,
    limit: 1,
    without: heavyFields,
  });
  return { lastDeliveryAt: newest?.receivedAt ?? null, quarantined: await countQuarantined(tx) };
}
