/** Notes of the watchdog, in the row of its lease. The next watchdog continues from them, and every process shows them in `health()`. */
import { z } from "zod";
import type { Store, StoreReader } from "../store/store.ts";
import type { LeaseRow } from "../store/tables/operations.ts";
import type { Lease } from "./lease.ts";

/** The name of the watchdog's lease. */
export const watchdogLease = "watchdog";

const seenSchema = z.object({
  /** When the subscription was last looked at. ISO 8601. */
  seenAt: z.string().default(""),
  /** The number of failures in a row that was last warned of: 0, 5 or 8. */
  level: z.number().default(0),
  /** The service was last seen to send no webhooks. */
  isDisabled: z.boolean().default(false),
  /** Contracts must be reconciled: the subscription was disabled, and no reconciling has succeeded since. */
  isBehind: z.boolean().default(false),
  /** Warnings for `health()`, by kind. `until` is when one ends; `null`: when its cause ends. */
  standing: z.record(z.string(), z.object({ message: z.string(), until: z.string().nullable() })).default({}),
});

export type Seen = z.output<typeof seenSchema>;

export function seenIn(row: LeaseRow | undefined): Seen {
  const read = seenSchema.safeParse(row?.state ?? {});
  return read.success ? read.data : seenSchema.parse({});
}

export async function loadSeen(reader: StoreReader): Promise<Seen> {
  const [row] = await reader.lookup("leases", "name", [watchdogLease]);
  return seenIn(row);
}

/** Writes the notes if this process still holds the lease. Resolves with whether it does. */
export function noteSeen(store: Store, { name, holder }: Lease, state: Seen): Promise<boolean> {
  return store.transaction(async (tx) => {
    const [row] = await tx.lock("leases", "name", [name]);
    if (row?.holder !== holder) return false;
    await tx.updateEach("leases", "name", [{ name, state }]);
    return true;
  });
}

/** The warnings that still hold. Those of a watchdog that has ended are too old. */
export function warningsIn(seen: Seen, nowIso: string, oldestIso: string): string[] {
  return Object.values(seen.standing)
    .filter(({ until }) => (until === null ? seen.seenAt >= oldestIso : until > nowIso))
    .map(({ message }) => message);
}
