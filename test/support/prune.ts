import { prune } from "../../src/retention/prune.ts";
import type { Store } from "../../src/store/store.ts";

/** Prunes the payloads that arrived before `before`. */
export async function prunePayloads(store: Store, before: Date) {
  const clock = { now: () => before.getTime() };
  const { partitions, payloads } = await prune({ store, clock }, { payloads: 0 });
  return { partitions, rows: payloads };
}
