/** Tells silence, when a fault is likely, from a quiet night. It compares with the mirror's own past. */
import { contractMachine } from "../domain/contract.ts";
import { toIsoTime } from "../shared/clock.ts";
import type { StoreReader } from "../store/store.ts";
import { allBut } from "../store/tables.ts";

/** Deliveries come at no exact time of the day: the first hour of silence does not count. */
const leftOutMs = 3_600_000;
const dayMs = 86_400_000;
const daysBack = 7;

/**
 * Since when no delivery has come, if that is odd: contracts are in progress, and at these hours deliveries came on each of the
 * last seven days. So a shop that sleeps at night or at weekends is not silent. However many rows there are, it looks only into
 * indexes: eight times, and once for each status.
 */
export async function silentSince(reader: StoreReader, nowMs: number): Promise<string | undefined> {
  const last = await deliveryWithin(reader);
  if (last === undefined) return undefined;
  const fromMs = Date.parse(last) + leftOutMs;
  if (nowMs <= fromMs) return undefined;
  for (let days = 1; days <= daysBack; days++) {
    const from = toIsoTime(fromMs - days * dayMs);
    const until = toIsoTime(nowMs - days * dayMs);
    if ((await deliveryWithin(reader, from, until)) === undefined) return undefined;
  }
  return (await hasProgress(reader)) ? last : undefined;
}

/** When the newest delivery of this time arrived. */
async function deliveryWithin(
  reader: StoreReader,
  from?: string,
  until?: string,
): Promise<string | undefined> {
  const [row] = await reader.walk(
    "deliveries",
    { by: ["receivedAt", "seq"], descending: true, from, until, rowsMax: 1 },
    { without: allBut("deliveries", ["receivedAt"]) },
  );
  return row?.receivedAt;
}

/** Whether any contract has not ended. One look for each status. */
async function hasProgress(reader: StoreReader): Promise<boolean> {
  for (let after: string[] | undefined; ;) {
    const [row] = await reader.walk(
      "contracts",
      { by: ["status", "contractId"], from: "", after, rowsMax: 1 },
      { without: allBut("contracts", ["status"]) },
    );
    const status = row?.status;
    if (status === null || status === undefined) return false;
    if (!contractMachine.terminal.includes(status)) return true;
    after = [status];
  }
}
