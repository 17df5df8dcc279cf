/**
 * The ids of deliveries on SQLite, of which the first migration says how they are kept. Triggers enter and compare them;
 * here is the function that these call, how rows are found by an id, and what goes from the small table into the large one.
 */
import { sql } from "kysely";
import type { TablePlace } from "./dialect.ts";
import type { Session } from "./session.ts";
import type { SqliteHandle } from "./sqlite-handle.ts";
import type { Narrow } from "./statements.ts";

/** The triggers call it by this name: it must be known to every connection that writes deliveries. */
export const idHash = "escrow_id_hash";

export function defineIdHash(handle: SqliteHandle): void {
  handle.function(idHash, { deterministic: true }, (id) => (id === null ? null : hashOfId(id)));
}

/** One more than the greatest hash: the numbers below are exact in JavaScript and take six bytes in SQLite. */
const hashes = 2 ** 48;

/**
 * A number for an id, spread evenly, the same for ever: databases hold it. Two lanes of FNV-1a over the UTF-16 units, each
 * mixed by MurmurHash3's finalizer. It need not withstand anyone: who writes an id has signed for it, and equal hashes
 * cost a look at one row more.
 */
export function hashOfId(id: string): number {
  let high = 0x811c9dc5;
  let low = 0x050c5d1f;
  for (let index = 0; index < id.length; index++) {
    const unit = id.charCodeAt(index);
    high = Math.imul(high ^ unit, 0x01000193);
    low = Math.imul(low ^ unit, 0x5bd1e995);
  }
  return mixed(high) * 0x10000 + (mixed(low ^ high) & 0xffff);
}

function mixed(lane: number): number {
  let bits = lane;
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return (bits ^ (bits >>> 16)) >>> 0;
}

/** Where a delivery is asked for by one of its ids: among the rows that have the id's hash. */
export function narrowById({ prefix }: TablePlace): Narrow {
  const seqsIn = (table: string, id: unknown) =>
    sql`select seq from ${sql.table(prefix + table)} where hash = ${sql.raw(idHash)}(${id})`;
  return (table, field, id) =>
    table === "deliveries" && (field === "id" || field === "payloadId")
      ? sql<boolean>`seq in (${seqsIn("delivery_ids_new", id)} union all ${seqsIn("delivery_ids", id)})`
      : undefined;
}

/** How many ids the small table comes to hold: a few hundred pages, which stay in memory. */
const newMax = 32_768;

/**
 * Takes a slice of the small table over into the large one: such a share of it as came in with these ids, so that it stops
 * growing, and side by side in the large one, so that few pages of that are touched. The slices lie on a grid, where the
 * first of the ids falls: in the long run everywhere alike.
 */
export async function settleIds(
  session: Session,
  { prefix }: TablePlace,
  ids: readonly string[],
): Promise<void> {
  const [first] = ids;
  if (first === undefined) return;
  const width = Math.ceil((hashes / newMax) * Math.min(ids.length, newMax));
  const from = Math.floor(hashOfId(first) / width) * width;
  const slice = [from, from + width];
  const inSlice = `from ${prefix}delivery_ids_new where hash >= ? and hash < ?`;
  await session.run(
    `insert or ignore into ${prefix}delivery_ids select hash, seq ${inSlice} order by hash, seq`,
    slice,
  );
  await session.run(`delete ${inSlice}`, slice);
}
