/**
 * The last resort (semantics §2): an authentic delivery that can't be applied, for an unforeseen reason of its own. Its
 * bytes are stored, so that a person can look at it and release it. Each copy is tried in full. The first gets 503, so that
 * the service sends it again. Later ones get 200, because the bytes are stored.
 */
import { settle } from "../../shared/result.ts";
import type { StoreTransaction } from "../../store/store.ts";
import { heavyFields } from "../../store/tables/deliveries.ts";
import type { DeliveryArrival } from "../arrival.ts";
import { countAttempts } from "./copies.ts";
import { digestIdOf, insertDeliveries, setAside } from "./delivery-row.ts";
import { failed, type Verdict } from "../outcome.ts";

export async function keepUnstorable(tx: StoreTransaction, arrival: DeliveryArrival): Promise<Verdict> {
  const { webhookId, contentKey } = arrival;
  if (await insertBytes(tx, arrival)) return failed("unstorable", webhookId);
  const [known] = await tx.lock("deliveries", "contentKey", [contentKey], heavyFields);
  // Never a 2xx for what is not stored.
  if (known === undefined) return failed("internal-error", webhookId);
  await countAttempts(tx, [{ row: known, arrivals: [arrival] }]);
  // Logged once, for the copies that got 503 until now. All others got 200 before.
  return known.reason === "unstorable" && known.attempts === 1
    ? { outcome: "quarantined", webhookId, reason: "unstorable" }
    : { outcome: "duplicate", webhookId };
}

/** With its webhook id and headers, unless these are what can't be stored. @returns whether it went in */
async function insertBytes(tx: StoreTransaction, arrival: DeliveryArrival): Promise<boolean> {
  const unread = { ...arrival, reading: { facts: null, reason: "unstorable" } } as const;
  const nameless = { ...unread, webhookId: digestIdOf(arrival.digest), headers: {} };
  const insert = async (bare: DeliveryArrival) => {
    const [isNew] = await insertDeliveries(tx, [bare], (each) => setAside(each, "unstorable", null));
    return isNew === true;
  };
  const named = await settle(() => tx.savepoint(() => insert(unread)));
  return named.ok ? named.value : insert(nameless);
}
