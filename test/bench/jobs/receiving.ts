/** What handlers cost a delivery. */
import Database from "better-sqlite3";
import type { Mirror } from "../../../src/index.ts";
import { sqlite } from "../../../src/sqlite.ts";
import { makeDeliveries, receiveAll } from "../deliveries.ts";
import { atMost, median, microseconds, microsecondsEach, shown, type Figure } from "../stopwatch.ts";
import { firstOf, openMirror, perRound, rounds, type Place } from "./mirrors.ts";

/** Five handlers, of which one hears of each delivery, run elsewhere. */
export async function benchReceiving({ where, open }: Place): Promise<Figure> {
  const plain = await openMirror(open("plain"));
  const heard = await openMirror(open("heard"), { jobs: { run: false } });
  heard.on("*", () => undefined, { name: "all" });
  for (const name of ["a", "b", "c", "d"]) heard.on("odd.event", () => undefined, { name });
  await heard.idle();
  const [without, with5] = await receiveInTurn(plain, heard);
  await Promise.all([plain.close(), heard.close()]);
  return atMost(1.3, {
    what: `mirror.receive with five handlers, one of which hears, ${where}`,
    measured: microseconds(with5),
    against: `without a handler: ${microseconds(without)}`,
    ratio: with5 / without,
  });
}

/** A handler that writes one row in the delivery's transaction, against a delivery without it and the row by hand. */
export async function benchInTransaction(file: (name: string) => string): Promise<Figure> {
  const path = file("in-transaction");
  const database = new Database(path);
  database.pragma("journal_mode = wal");
  database.exec("create table ledger (webhook text primary key, amount integer)");
  const plain = await openMirror(sqlite(file("without")));
  const ledger = await openMirror(sqlite(path));
  ledger.inTransaction(
    "*",
    ({ webhookId, amountMinor }, { connection }) => {
      const handle = connection as Database.Database;
      handle.prepare("insert into ledger values (?, ?)").run(webhookId, amountMinor);
    },
    { name: "ledger" },
  );
  await ledger.idle();
  const [without, within] = await receiveInTurn(plain, ledger);
  await Promise.all([plain.close(), ledger.close()]);
  const byHand = await insertByHand(database);
  database.close();
  return shown({
    what: "mirror.receive with a row of one's own by inTransaction, SQLite",
    measured: microseconds(within),
    against: `without a handler, and the row by hand in transactions of 64: ${microseconds(without + byHand)}`,
    ratio: within / (without + byHand),
  });
}

async function insertByHand(database: Database.Database): Promise<number> {
  database.pragma("synchronous = full");
  const insert = database.prepare("insert into ledger values (?, ?)");
  const insertSome = database.transaction((from: number) => {
    for (let row = from; row < from + 64; row++) insert.run(`by hand ${row}`, row);
  });
  return microsecondsEach(perRound, () => {
    for (let row = 0; row < perRound; row += 64) insertSome.immediate(row);
  });
}

/** Microseconds that a delivery takes of each, round by round one after the other. */
export async function receiveInTurn(one: Mirror, other: Mirror): Promise<[number, number]> {
  const taken = { one: [] as number[], other: [] as number[] };
  for (let round = 0; round < rounds; round++) {
    const [mine, others] = [0, 1].map(() => [...makeDeliveries(perRound, firstOf(round))]);
    taken.one.push(await microsecondsEach(perRound, () => receiveAll(one, mine ?? [])));
    taken.other.push(await microsecondsEach(perRound, () => receiveAll(other, others ?? [])));
  }
  return [median(taken.one), median(taken.other)];
}
