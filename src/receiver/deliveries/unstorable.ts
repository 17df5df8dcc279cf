/**
 * The last resort (semantics §2): an authentic delivery that can't be applied, for a reason of its own that nobody
 * foresaw. Its
 * bytes are stored, for a person to see and to release. The first copy is answered 503, so that it comes again, and each
 * copy is tried in full once more; from the second on the answer is 200, for what is stored is not refused for ever.
 */
import { settle } from "../../shared/result.ts";
import type { StoreTransaction } from "../../store/store.ts";
import { heavyFields } from "../../store/tables.ts";
import type { DeliveryArrival } from "../arrival.ts";
import { countAttempts } from "../dedupe.ts";
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
