/**
 * How often `inTransaction` handlers failed at a delivery, and what follows. The delivery's transaction is rolled back each
 * time, so a failure is counted in the next one.
 */
import type { StoreTransaction } from "../../store/store.ts";
import type { FailureRow } from "../../store/tables/handlers.ts";
import type { HandlerFault } from "./handler-fault.ts";
import { describe } from "../thrown.ts";

/** At this many failures of a handler, the delivery is committed without its rows. */
export const failuresMax = 3;
/** The same for failures of the store while the handler runs. The service sends a delivery six times. */
export const faultsMax = 5;

/** How often handlers have failed at these deliveries: asked by delivery and handler. */
export async function loadFailures(
  tx: StoreTransaction,
  deliveries: readonly { readonly digest: string }[],
): Promise<(digest: string, handler: string) => FailureRow | undefined> {
  const digests = deliveries.map(({ digest }) => digest);
  const rows = digests.length === 0 ? [] : await tx.lookup("failures", "digest", digests);
  const byName = new Map(rows.map((row) => [`${row.digest} ${row.handler}`, row]));
  return (digest, handler) => byName.get(`${digest} ${handler}`);
}

/** Resolves with whether the delivery can now be committed without the handler. */
export async function countFailure(
  tx: StoreTransaction,
  { digest, handler, contractId, cause, isOfStore }: HandlerFault,
  changedAt: string,
): Promise<boolean> {
  const known = (await tx.lookup("failures", "digest", [digest])).find((row) => row.handler === handler);
  const failures = (known?.failures ?? 0) + (isOfStore ? 0 : 1);
  const faults = (known?.faults ?? 0) + (isOfStore ? 1 : 0);
  const [contract] = contractId === null ? [] : await tx.lockContracts([contractId]);
  const lastError = contract?.redactedAt == null ? describe(cause) : "";
  await tx.upsert("failures", [{ digest, handler, contractId, failures, faults, lastError, changedAt }]);
  return isOfStore && faults >= faultsMax;
}
