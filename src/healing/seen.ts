/** Notes of the watchdog, in its lease's row: a follower goes on from them, and every process's `health()` tells of them. */
import { z } from "zod";
import type { Store, StoreReader } from "../store/store.ts";
import type { LeaseRow } from "../store/tables.ts";
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
  /** Contracts are to be reconciled: it was disabled, and a run has not ended since. */
  isBehind: z.boolean().default(false),
  /** Sentences for `health()`, by kind, and until when they stand; `null` while they hold. */
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

/** Writes them down while the lease is still one's own. Resolves with whether it is. */
export function noteSeen(store: Store, { name, holder }: Lease, state: Seen): Promise<boolean> {
  return store.transaction(async (tx) => {
    const [row] = await tx.lock("leases", "name", [name]);
    if (row?.holder !== holder) return false;
    await tx.updateEach("leases", "name", [{ name, state }]);
    return true;
  });
}

/** Those that are not too old. */
export function warningsIn(seen: Seen, nowIso: string, oldestIso: string): string[] {
  return Object.values(seen.standing)
    .filter(({ until }) => (until === null ? seen.seenAt >= oldestIso : until > nowIso))
    .map(({ message }) => message);
}
