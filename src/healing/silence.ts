/** Tells silence from quiet: nothing has come for longer than the mirror's own past makes likely. */
import { contractMachine } from "../domain/contract.ts";
import { toIsoTime } from "../shared/clock.ts";
import type { StoreReader } from "../store/store.ts";
import { allBut } from "../store/tables.ts";

/** The first hour is not looked at: deliveries come at no exact time of the day. */
const leftOutMs = 3_600_000;
const dayMs = 86_400_000;
const daysBack = 7;

/**
 * Since when it is silent, if that is odd: at the same hours of each of the last seven days deliveries came, and now none came
 * although contracts are in progress. So a shop that sleeps at night or at weekends is quiet and not silent. It costs nine looks
 * into indexes at most, however many rows there are.
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

/** When the newest delivery of the stretch arrived. */
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

/** Whether any contract has not ended: one look for each status that there is. */
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
