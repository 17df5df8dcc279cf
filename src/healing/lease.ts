import { randomUUID } from "node:crypto";
import type { Store } from "../store/store.ts";

/** Work that one process at a time does for all. Its holder says so again all the time; a killed one is followed. */
export interface Lease {
  readonly name: string;
  readonly holder: string;
  /** How often to ask, so that a killed holder is followed within the lease. Milliseconds. */
  readonly askEveryMs: number;
  /** Takes it, or holds on to it. Resolves with `false` if another holds it. */
  ask(): Promise<boolean>;
  /** Lets go. What its holders noted down stays. */
  release(): Promise<void>;
}

/** @param leaseMs from the last sign of life of a killed holder until another has the lease */
export function createLease(store: Store, name: string, leaseMs: number): Lease {
  const holder = randomUUID();
  const askEveryMs = leaseMs / 4;
  return {
    name,
    holder,
    askEveryMs,
    // The rest of the lease is for the follower's own beat, and for a busy machine.
    ask: () => store.transaction((tx) => tx.jobs.lease({ name, holder, leaseMs: leaseMs / 2 })),
    release: () =>
      store.transaction(async (tx) => {
        const [row] = await tx.lock("leases", "name", [name]);
        if (row?.holder === holder) await tx.updateEach("leases", "name", [{ name, heldUntil: "" }]);
      }),
  };
}
