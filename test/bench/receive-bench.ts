import { Kysely, SqliteDialect } from "kysely";
import { join } from "node:path";
import { createMirror } from "../../src/index.ts";
import { sqlite } from "../../src/sqlite.ts";
import { tables } from "../../src/store/tables.ts";
import { columnName, openByHand, openTables, toValues, writtenColumns } from "./by-hand.ts";
import { makeDeliveries, receiveAll, secret } from "./deliveries.ts";
import { byDelivery, record, type RecordedWrite } from "./recording-store.ts";
import { atLeast, median, microsecondsEach, perSecond, withFolder, type Figure } from "./stopwatch.ts";

const rounds = 7;
const perRound = 6400;
const perRoundKysely = 640;

/**
 * `mirror.receive` with 64 deliveries in flight on SQLite FULL, against the same rows written by hand with prepared
 * statements in transactions of 64, and against one Kysely transaction for each delivery, which looks up the delivery and
 * its contract and writes the same rows. Round by round, one after the other, so that a disturbance of the machine meets
 * all three.
 */
export async function benchReceive(): Promise<Figure[]> {
  return withFolder(async (folder) => {
    const ours: number[] = [];
    const byHand: number[] = [];
    const kysely: number[] = [];
    const mirror = await createMirror({
      store: sqlite(join(folder, "mirror.db")),
      webhook: { secrets: secret },
    });
    const hand = openByHand(join(folder, "by-hand.db"));
    const each = openKysely(join(folder, "kysely.db"));
    for (let round = 0; round < rounds; round++) {
      const deliveries = [...makeDeliveries(perRound, round * perRound)];
      const commits = await record(deliveries);
      ours.push(await microsecondsEach(perRound, () => receiveAll(mirror, deliveries)));
      byHand.push(await microsecondsEach(perRound, () => hand.write(commits)));
      const few = commits.flat().slice(0, writesOf(commits, perRoundKysely));
      kysely.push(await microsecondsEach(perRoundKysely, () => each.write(few)));
    }
    await mirror.close();
    hand.close();
    await each.close();
    return toFigures(median(ours), median(byHand), median(kysely));
  });
}

function toFigures(ours: number, byHand: number, kysely: number): Figure[] {
  const what = "mirror.receive, 64 in flight, SQLite FULL";
  const measured = perSecond(ours);
  return [
    atLeast(0.5, {
      what,
      measured,
      against: `the same rows by hand, prepared, in transactions of 64: ${perSecond(byHand)}`,
      ratio: byHand / ours,
    }),
    atLeast(5, {
      what,
      measured,
      against: `one Kysely transaction for each delivery: ${perSecond(kysely)}`,
      ratio: kysely / ours,
    }),
  ];
}

function writesOf(commits: readonly RecordedWrite[][], deliveries: number): number {
  let seen = 0;
  return commits.flat().findIndex(({ table }) => table === "deliveries" && ++seen > deliveries);
}

function openKysely(path: string) {
  const database = openTables(path);
  const db = new Kysely<Record<string, Record<string, unknown>>>({
    dialect: new SqliteDialect({ database }),
  });
  const receiveOne = (writes: readonly RecordedWrite[]): Promise<void> =>
    db.transaction().execute(async (trx) => {
      for (const { table, row } of writes) await lookUp(trx, table, row as Record<string, unknown>);
      for (const write of writes) await insertWith(trx, write);
    });
  return {
    write: async (writes: readonly RecordedWrite[]) => {
      for (const group of byDelivery(writes)) await receiveOne(group);
    },
    close: () => db.destroy(),
  };
}

type AnyKysely = Kysely<Record<string, Record<string, unknown>>>;

/** What no receiver can do without: whether this delivery is known, and where its contract stands. */
async function lookUp(
  trx: AnyKysely,
  table: RecordedWrite["table"],
  row: Record<string, unknown>,
): Promise<void> {
  if (table !== "deliveries") return;
  await trx.selectFrom("escrow_deliveries").select("seq").where("id", "=", row["id"]).execute();
  await trx.selectFrom("escrow_contracts").selectAll().where("contract_id", "=", row["contractId"]).execute();
}

async function insertWith(trx: AnyKysely, write: RecordedWrite): Promise<void> {
  const { table, how } = write;
  const names = writtenColumns(table).map(({ name }) => name);
  const values = toValues(write);
  const row = Object.fromEntries(names.map((name, index) => [name, values[index]]));
  const key = tables[table].key.map((field) => columnName(table, field));
  await trx
    .insertInto(`escrow_${table}`)
    .values(row)
    .onConflict((conflict) =>
      how === "insert" ? conflict.doNothing() : conflict.columns(key).doUpdateSet(row),
    )
    .execute();
}
