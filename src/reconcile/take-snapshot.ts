import type { SnapshotArrival } from "../receiver/arrival.ts";
import type { Verdict } from "../receiver/outcome.ts";
import { EscrowMirrorError, type ErrorCode } from "../shared/errors.ts";

/** Folds an API answer in; resolves once it is durable. Rejects with `store-unavailable`, `closed` or `internal-error`. */
export type TakeSnapshot = (snapshot: SnapshotArrival) => Promise<void>;

/** @param take the receiver's, which says how it went instead of rejecting */
export function createTakeSnapshot(take: (snapshot: SnapshotArrival) => Promise<Verdict>): TakeSnapshot {
  return async (snapshot) => {
    const { outcome, reason = "internal-error" } = await take(snapshot);
    if (outcome !== "failed") return;
    const code = codes[reason] ?? "internal-error";
    const { contractId } = snapshot.facts;
    throw new EscrowMirrorError(
      code,
      `contract ${contractId} was read from the API and can't be stored (${reason}): try again`,
    );
  };
}

const codes: Readonly<Record<string, ErrorCode>> = {
  "store-unavailable": "store-unavailable",
  "intake-full": "store-unavailable",
  "handler-failed": "handler-failed",
  closed: "closed",
};
