/**
 * How SQLite keeps the ids of deliveries unique. Ids are random: a unique index on each column would have every delivery
 * read and write a page of its own in each, from the disk once they no longer fit in memory. So hashes are indexed instead
 * of ids, in three tables, each many times the size of the one before it. Triggers (migration 1) enter each hash in the
 * small one; every commit moves one slice of the hash space on from each into the next, so that it writes a few
 * neighbouring pages there. A look-up asks all three, through a view, and compares the ids of the rows that it finds.
 */
import { sql } from "kysely";
import type { Batches } from "../sql/batches.ts";
import { columnOf } from "../sql/codec.ts";
import type { TablePlace } from "../sql/dialect.ts";
import type { Session } from "../sql/session.ts";
import type { SqliteHandle } from "./handle.ts";
import type { Indexing } from "../sql/statements.ts";
import type { NewRow } from "../store.ts";
import { heavyFields, type DeliveryRow, type TableName } from "../tables.ts";

/** Makes the function known that the triggers call: without it a connection reads deliveries, and can't write them. */
export function defineIdHash(handle: SqliteHandle): void {
  handle.function(idHashFunction, { deterministic: true }, (id) => (id === null ? null : hashOfId(id)));
}

const idHashFunction = "escrow_id_hash";

/** 47 bits: exact in JavaScript, and SQLite, whose integers are signed, stores them in six bytes. */
const hashSpace = 2 ** 47;

/**
 * A number for an id, spread evenly, the same for ever: databases hold it. Two multiply-xor lanes over the UTF-16 units,
 * one FNV-1a, the other with MurmurHash2's multiplier, each finished by MurmurHash3's 32-bit finalizer. Nobody gains by
 * making hashes equal: only a new signed body enters an id, and each id of the same hash costs a look at one row more.
 */
export function hashOfId(id: string): number {
  let high = fnvOffset;
  let low = fnvOffset;
  for (let index = 0; index < id.length; index++) {
    const unit = id.charCodeAt(index);
    high = Math.imul(high ^ unit, fnvPrime);
    low = Math.imul(low ^ unit, murmur2Multiplier);
  }
  return (finalized(high) >>> 1) * 0x1_0000 + (finalized(low ^ high) & 0xffff);
}

const fnvOffset = 0x811c9dc5;
const fnvPrime = 0x01000193;
const murmur2Multiplier = 0x5bd1e995;

function finalized(lane: number): number {
  let bits = lane;
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return (bits ^ (bits >>> 16)) >>> 0;
}

/**
 * A delivery that is asked for by one of its ids is the one that bears it among those of the id's hash. Rows are asked for
 * by an equation with their `seq` each time, so that SQLite has no choice (`indexing.ts`).
 */
export function byIdHash({ prefix }: TablePlace): Indexing["condition"] {
  const [deliveries, hashes] = ["deliveries", "delivery_id_hashes"].map((name) => sql.table(prefix + name));
  return (table, field, id) => {
    if (table !== "deliveries" || !isIdField(field)) return undefined;
    const itsId = sql`select ${sql.ref(columnOf(table, field).name)} from ${deliveries} as other where other.seq = known.seq`;
    const hash = sql`${sql.raw(idHashFunction)}(${id})`;
    return sql<boolean>`seq = (select known.seq from ${hashes} as known where known.hash = ${hash} and (${itsId}) = ${id})`;
  };
}

function isIdField(field: string): boolean {
  return field === "id" || field === "payloadId";
}

/** Batches that bear in mind how deliveries are kept apart. */
export function withIdHashes(rows: Batches, session: Session, place: TablePlace): Batches {
  /** A savepoint that is rolled back leaves its ids here: only the width of a slice rests on them. */
  const entered: string[] = [];

  /** SQL's `on conflict (id)` needs an index on the column. One by one, so that of two rows with one id the last stays. */
  async function replace(delivery: NewRow<"deliveries">): Promise<void> {
    const [wentIn] = await batches.insert("deliveries", [delivery]);
    if (wentIn === true) return;
    const [known] = await rows.lookup("deliveries", "id", [delivery.id], heavyFields);
    if (known === undefined)
      throw new Error(`another delivery has the content or the payload id of ${delivery.id}`);
    await rows.updateEach("deliveries", "id", [delivery]);
  }

  const batches: Batches = {
    ...rows,

    async insert(table, added) {
      const wentIn = await rows.insert(table, added);
      if (table !== "deliveries") return wentIn;
      for (const [index, row] of added.entries()) {
        const { id, payloadId } = row as unknown as DeliveryRow;
        if (wentIn[index] !== true) continue;
        entered.push(id);
        if (payloadId !== null) entered.push(payloadId);
      }
      return wentIn;
    },

    async upsert<Name extends TableName>(table: Name, added: readonly NewRow<Name>[]) {
      if (table !== "deliveries") return rows.upsert(table, added);
      for (const row of added) await replace(row as unknown as NewRow<"deliveries">);
    },

    finish: () => moveSlices(session, place, entered),
  };
  return batches;
}

/** From which table into which, and how many rows the first settles at: 20 and 300 pages, which stay in memory. */
const moves = [
  { from: "small", to: "middle", typical: 4096 },
  { from: "middle", to: "large", typical: 65_536 },
] as const;

/**
 * Moves a slice from each table into the next. `n` new ids move `n / typical` of the hash space, so that a table neither
 * grows nor runs empty. The slices are those that the first new id falls into: over time all get their turn, and the second
 * lies within the first, so that both go by the same pages of the middle table. (Ids that a release gives to a delivery
 * move on with the slices of later ones.)
 */
export async function moveSlices(
  session: Session,
  { prefix }: TablePlace,
  entered: readonly string[],
): Promise<void> {
  const [first] = entered;
  if (first === undefined) return;
  const hash = hashOfId(first);
  const hashes = `${prefix}delivery_id_hashes`;
  for (const { from, to, typical } of moves) {
    const width = (hashSpace / typical) * Math.min(entered.length, typical);
    const start = Math.floor(hash / width) * width;
    await moveSlice(session, `${hashes}_${from}`, `${hashes}_${to}`, [start, start + width]);
  }
}

async function moveSlice(session: Session, from: string, to: string, slice: [number, number]): Promise<void> {
  const inSlice = `from ${from} where hash >= ? and hash < ?`;
  await session.run(`insert or ignore into ${to} select hash, seq ${inSlice} order by hash, seq`, slice);
  await session.run(`delete ${inSlice}`, slice);
}
