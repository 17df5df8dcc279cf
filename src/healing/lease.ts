import { randomUUID } from "node:crypto";
import type { Store } from "../store/store.ts";

/** Work that one process at a time does for all. Its holder renews the lease again and again. When it is killed, another takes over. */
export interface Lease {
  readonly name: string;
  readonly holder: string;
  /** How often to ask: often enough to take over within `leaseMs` when the holder is killed. Milliseconds. */
  readonly askEveryMs: number;
  /** Takes the lease, or renews it. Resolves with `false` if another process holds it. */
  ask(): Promise<boolean>;
  /** Lets another take it at once. The notes in its row stay. */
  release(): Promise<void>;
}

/** @param leaseMs how long after the last renewal of a killed holder another has the lease, at the latest */
export function createLease(store: Store, name: string, leaseMs: number): Lease {
  const holder = randomUUID();
  const askEveryMs = leaseMs / 4;
  return {
    name,
    holder,
    askEveryMs,
    // Half of it: the rest is for the next process to ask, and for a busy machine.
    ask: () => store.transaction((tx) => tx.jobs.lease({ name, holder, leaseMs: leaseMs / 2 })),
    release: () =>
      store.transaction(async (tx) => {
        const [row] = await tx.lock("leases", "name", [name]);
        if (row?.holder === holder) await tx.updateEach("leases", "name", [{ name, heldUntil: "" }]);
      }),
  };
}
